"""The real vLLM, for `make test-vllm`: its environment, its server, and runs in one process."""
