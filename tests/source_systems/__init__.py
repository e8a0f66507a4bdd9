"""The four systems that Hardwon unifies: each row is something that one of their authors ran, and what must happen."""
