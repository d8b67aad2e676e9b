"""Caffe's messages: caffe.proto.caffe_pb2, generated of Brew's schema."""
