//===- ClipList.h - Lists of clips of videos --------------------*- C++ -*-===//
//
// A video is a folder of images of its frames; a clip consists of some of them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/image/ImageList.h"

#include <string>
#include <vector>

namespace brew::formats {

/// Reads a list with the name of a folder, the number of a frame and a label in
/// each line. If `classCount` is not 0, a line has several labels from 0 to
/// `classCount` - 1, separated by commas. Throws Error(3) if the list cannot be
/// read, Error(1) if it is empty or not text, or a line has another form.
std::vector<ImageListEntry> readClipList(const std::string &path,
                                         int classCount);

/// Returns the path of a frame's image: "VIDEO/000012.jpg", as C3D names it, or
/// if that does not exist, "VIDEO/image_0012.jpg", as video-caffe does. Looks
/// it up as requirePath() does. `where` is a prefix of messages. Throws
/// Error(3) if there is no such image, Error(1) if `video` is a file.
std::string requireFrame(const std::string &video, int frame,
                         const std::vector<std::string> &folders,
                         const std::string &where);

} // namespace brew::formats
