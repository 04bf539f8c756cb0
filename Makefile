# `make demo` to try it, `make test` to check it. Each installs what it needs first.

.PHONY: demo test bench lint doc

demo:
	@scripts/install-needs demo
	cargo build --release --locked --bin scruff
	@if [ -t 0 ] && [ -t 1 ]; then cargo run --release --locked --quiet -- demo; \
	else cargo run --release --locked --quiet -- demo --script; fi

# Twice: for someone who uses tmux as it comes, and for someone who has changed everything.
test:
	@scripts/install-needs test
	cargo test --locked
	SCRUFF_TEST_CONF=hostile cargo test --locked --test it

bench:
	@scripts/install-needs test
	python3 tests/bench/run.py

lint:
	cargo fmt --check
	cargo clippy --all-targets --locked -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --no-deps --document-private-items --locked
