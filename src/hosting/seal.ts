import { Secret } from '../domain/secret.ts';

const MOST_SEALED = 16_384;

/** Keeps an answer that may hold a root password; undefined when there is nothing in it. */
export function sealText(text: string): Secret<string> | undefined {
  return text.trim() === '' ? undefined : new Secret(text.slice(0, MOST_SEALED));
}
