//===- ImageSource.cpp - Batches from a list of image files ---------------===//

#include "formats/PathLookup.h"
#include "formats/image/ImageFile.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/ImageListSource.h"
#include "support/Error.h"

namespace brew::runtime {
namespace {

/// Reads the images of a list or of a folder of classes.
class ImageSource : public ImageListSource {
public:
  explicit ImageSource(const DataLayerInfo &info)
      : ImageListSource(info, "images"),
        parameter(info.layer.image_data_param()) {
    if (!parameter.new_height() != !parameter.new_width())
      throw badInput(images.layer() +
                     ": set both or neither of new_height and new_width");
    const std::string list =
        formats::requirePath(parameter.source(), info.folders,
                             "list of images of " + images.layer());
    postLine(info.events, log::site::imageList, "Opening file " + list);
    open(info,
         formats::readImageDataFiles(list, parameter.root_folder(),
                                     info.layer.type() ==
                                         caffe::kMultiLabelImageData),
         parameter.rand_skip());
  }

private:
  void decode(const formats::ImageListEntry &entry, std::uint64_t /*record*/,
              formats::ImageRecord &image, std::string &where) const override {
    where = files.locationOf(entry);
    if (entry.name.empty())
      throw badInput(where + ": names no image");
    const std::string prefix = where.empty() ? "" : where + ": ";
    const std::string path =
        formats::requirePath(files.nameOf(entry, parameter.root_folder()),
                             folders, prefix + "image");
    formats::Image decoded;
    formats::readImageFile(path,
                           parameter.is_color() ? formats::ImageColor::Color
                                                : formats::ImageColor::Gray,
                           static_cast<int>(parameter.new_height()),
                           static_cast<int>(parameter.new_width()), where,
                           decoded);
    where = prefix + path;
    formats::setImage(decoded, image);
    image.label = entry.label;
    image.labels = entry.labels;
  }

  const caffe::ImageDataParameter parameter;
};

} // namespace

static std::unique_ptr<BatchSource> openImageSource(const DataLayerInfo &info) {
  return std::make_unique<ImageSource>(info);
}

const SourceKind imageSource = {caffe::DataLayerSource::Images,
                                openImageSource};

} // namespace brew::runtime
