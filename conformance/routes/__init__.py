"""Routes, `torch:via=onnx`: a call of a document as a program that is converted for an engine.

What is judged is the document of the call. Where it departs, the route prints the program that was
emitted and, where that is ONNX, which of both departs: the converter, if the program departs though
it is computed as ONNX says, or else the engine.
"""
