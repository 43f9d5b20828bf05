const lines: string[] = [];

/** Remembers a line that was sent, so that arrow up brings it back. */
export function rememberSent(line: string): void {
  if (lines.at(-1) !== line) lines.push(line);
}

/** The line that was sent this many steps ago; empty for none. */
export function recall(steps: number): { readonly line: string; readonly steps: number } {
  const within = Math.max(0, Math.min(lines.length, steps));
  return { line: within === 0 ? '' : (lines.at(-within) ?? ''), steps: within };
}
