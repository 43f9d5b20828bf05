import { Secret } from '../domain/secret.ts';

const MOST_SEALED = 16_384;

/** Wraps an answer that may hold a root password; undefined if it is empty. */
export function sealText(text: string): Secret<string> | undefined {
  return text.trim() === '' ? undefined : new Secret(text.slice(0, MOST_SEALED));
}
