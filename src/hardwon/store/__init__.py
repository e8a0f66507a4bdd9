"""The store: one driver per engine, numbered migrations, one module of portable SQL per noun."""
