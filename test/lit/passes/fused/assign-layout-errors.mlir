// RUN: not %brew-opt %s --brew-assign-layout='layout=nwhc' 2>&1 | FileCheck %s
// CHECK: Cannot find option named 'nwhc'!
module {
}
