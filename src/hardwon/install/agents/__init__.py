"""Where each agent keeps its settings, and what stands in them for us: one small module an agent."""
