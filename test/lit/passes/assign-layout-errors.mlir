// RUN: %brew-opt %s --brew-assign-layout='layout=nwhc' --verify-diagnostics

// expected-error @below {{unknown layout 'nwhc'}}
module {
}
