const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * Makes ids that are each greater than the last one, also within one millisecond or when the clock is set back:
 * the order of ids is the order in which things happened.
 */
export function makeOrderedIds(newId: () => string): () => string {
  let last = '';
  return () => {
    const id = newId();
    last = id > last ? id : increment(last);
    return last;
  };
}

/** The next ULID: adds one to its last letter, and carries. */
export function increment(ulid: string): string {
  const head = ulid.slice(0, -1);
  const letter = CROCKFORD[CROCKFORD.indexOf(ulid.slice(-1)) + 1];
  if (ulid === '') throw new Error('there is no ULID after the last one');
  return letter === undefined ? `${increment(head)}0` : `${head}${letter}`;
}
