"""Other engines: exported grammars, backends for vLLM and SGLang, processors for TensorRT-LLM and mlx-lm."""
