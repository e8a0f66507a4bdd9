"""Model providers and what is built around them."""

from __future__ import annotations

from hardwon.scrub.rules.form import named, token
from hardwon.scrub.shapes import is_api_key

_UUID = "<H>{8}-<H>{4}-<H>{4}-<H>{4}-<H>{12}"

MODELS = (
    token("anthropic-key", "Anthropic API key or OAuth token", "sk-ant-<U>{16,}", edge=""),
    token("openrouter-key", "OpenRouter API key", "sk-or-<U>{20,}", edge=""),
    token("openai-key", "OpenAI and compatible API key", "sk-<U>{16,}", accepts=is_api_key, edge="U"),
    token("openai-key", "OpenAI session key", "sess-<A>{40}(?!<A>)", edge="U"),
    token("langfuse-key", "Langfuse secret key", f"sk-lf-{_UUID}"),
    token("huggingface-token", "Hugging Face token", "hf_<A>{30,}"),
    token("huggingface-token", "Hugging Face organization token", "api_org_<A>{30,}"),
    token("groq-key", "Groq API key", "gsk_<A>{40,}"),
    token("xai-key", "xAI API key", "xai-<A>{60,}"),
    token("perplexity-key", "Perplexity API key", "pplx-<A>{40,}"),
    token("replicate-token", "Replicate API token", "r8_<A>{34,}"),
    token("together-key", "Together AI API key", "tgp_v1_<U>{30,}"),
    token("fireworks-key", "Fireworks AI API key", "fw_<A>{22,}"),
    token("cerebras-key", "Cerebras API key", "csk-<L>{40,}", edge="U"),
    token("nvidia-key", "NVIDIA API key", "nvapi-<U>{50,}"),
    token("voyage-key", "Voyage AI API key", "pa-<U>{43}(?!<U>)", edge="U"),
    token("jina-key", "Jina AI API key", "jina_<A>{50,}"),
    token("pinecone-key", "Pinecone API key", "pcsk_<A>{4,8}_<A>{50,}"),
    named("pinecone-key", "Pinecone API key of the older form", "pinecone", _UUID),
    token("tavily-key", "Tavily API key", "tvly-<U>{28,}"),
    token("firecrawl-key", "Firecrawl API key", "fc-<H>{32}(?!<A>)", edge="U"),
    token("elevenlabs-key", "ElevenLabs API key", "sk_<H>{48}(?!<A>)"),
    token("langsmith-key", "LangSmith API key", "lsv2_(?:pt|sk)_<H>{32}_<H>{10}", "lsv2_"),
    token("e2b-key", "E2B API key", "e2b_<H>{36,}"),
    token("runpod-key", "RunPod API key", "rpa_<A>{40,}"),
    token("modal-token", "Modal token", "a[ks]-<A>{22}(?!<A>)", "ak-", "as-", edge="U"),
    token("anyscale-key", "Anyscale API key", "esecret_<L>{24,}"),
    token("mem0-key", "Mem0 API key", "m0-<A>{40}(?!<A>)", edge="U"),
    token("cursor-key", "Cursor API key", "(?:crsr|key)_<H>{60,}", "crsr_", "key_"),
    token("wandb-key", "Weights & Biases API key", "wandb_v1_<U>{40,}"),
    named("wandb-key", "Weights & Biases API key of the older form", "wandb weights_and_biases", "<H>{40}"),
    named("cohere-key", "Cohere API key", "cohere co_api_key", "<A>{40}"),
    named("mistral-key", "Mistral API key", "mistral", "<A>{32}"),
    named("deepgram-key", "Deepgram API key", "deepgram", "<H>{40}"),
    named("assemblyai-key", "AssemblyAI API key", "assemblyai assembly_ai", "<H>{32}"),
    named("stability-key", "Stability AI API key", "stability dreamstudio", "<U>{48,52}"),
    named("exa-key", "Exa API key", "exa_api exa-api exaapi", _UUID),
    named("serper-key", "Serper or SerpApi key", "serper serpapi serp_api", "(?:<H>{64}|<H>{40})"),
)
