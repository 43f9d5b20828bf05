import { Secret } from '../domain/secret.ts';

/** 16 KiB, also of an answer that is kept with one character for each byte. Three messages show it. */
const MOST_SEALED = 16_384;

/** Wraps an answer that may hold a root password; undefined if it is empty. */
export function sealText(text: string): Secret<string> | undefined {
  if (text.trim() === '') return undefined;
  if (text.length <= MOST_SEALED) return new Secret(text);
  // A character is never cut in half.
  const kept = text.slice(0, MOST_SEALED).replace(/[\uD800-\uDBFF]$/, '');
  return new Secret(`${kept}\n[The rest, ${text.length - kept.length} characters, was too long to keep.]`);
}
