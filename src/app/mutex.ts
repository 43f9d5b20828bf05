/** Lets pieces of work that share a name run one after the other. */
export interface Mutex {
  /** Runs the work when all earlier work of that name has ended, well or badly. */
  run<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
}

/** Builds turns that live in this process. */
export function createMutex(): Mutex {
  const lastOf = new Map<string, Promise<unknown>>();
  return {
    run: (name, work) => {
      const turn = (lastOf.get(name) ?? Promise.resolve()).then(work, work);
      lastOf.set(name, turn);
      const forget = () => {
        if (lastOf.get(name) === turn) lastOf.delete(name);
      };
      turn.then(forget, forget);
      return turn;
    },
  };
}
