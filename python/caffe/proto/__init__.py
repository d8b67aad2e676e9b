"""Caffe's messages: caffe.proto.caffe_pb2, generated from Brew's schema."""
