/** Works through what was added for each key, one after the other; the same again is done once. The work must not throw. */
export interface Lines<Key, One> {
  add(key: Key, ones: readonly One[]): void;
}

export function createLines<Key, One>(work: (key: Key, one: One) => Promise<void>): Lines<Key, One> {
  const lines = new Map<Key, Set<One>>();
  const workThrough = async (key: Key, waiting: Set<One>) => {
    for (const one of waiting) {
      waiting.delete(one);
      await work(key, one);
    }
    lines.delete(key);
  };
  return {
    add: (key, ones) => {
      const waiting = lines.get(key);
      if (waiting) {
        for (const one of ones) waiting.add(one);
        return;
      }
      const begun = new Set(ones);
      lines.set(key, begun);
      void workThrough(key, begun);
    },
  };
}
