"""Other engines: backends for vLLM and SGLang, processors for TensorRT-LLM and mlx-lm."""
