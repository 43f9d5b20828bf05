/** A function in a source file. */
export interface FoundFunction {
  /** The line in which its body opens, counted from 1. */
  readonly line: number;
  /** Lines from there to its closing brace, both included. */
  readonly lines: number;
}

/** A block that is not a function. */
const STATEMENT = /^\s*(?:\}\s*)?(?:if|for|while|switch|catch|else|try|do|finally)\b/;
const OPENS_BODY = /(?:=>\s*\(?\{|\)(?::\s*[^=]*?)?\s*\{)$/;

/**
 * Finds functions by their layout: the formatter gives a body's closing brace the indentation of the line that opened it.
 * Classes, types and plain objects don't count.
 */
export function findFunctions(text: string): FoundFunction[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    if (STATEMENT.test(line) || !OPENS_BODY.test(line)) return [];
    const indentation = /^\s*/.exec(line)?.[0] ?? '';
    const length = lines.slice(at + 1).findIndex((later) => later.startsWith(`${indentation}}`));
    return length < 0 ? [] : [{ line: at + 1, lines: length + 2 }];
  });
}
