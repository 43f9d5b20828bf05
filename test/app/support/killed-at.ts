/** A process that is killed at one of its steps: before or after a call of a port that was watched. 0: it lives. */
export interface KilledProcess {
  /** What was done until now: its last entry is where it died. */
  readonly steps: readonly string[];
  isDead(): boolean;
  /** The same port, whose calls are steps; reads are none. */
  watch<Port extends object>(name: string, port: Port): Port;
  /** Resolves when the work has ended or the process has died. */
  run(work: () => Promise<unknown>): Promise<void>;
}

/** Calls that change nothing outside of the process. */
const READS = /^(find|list|fetch|budget)/;

export function killedAt(at: number): KilledProcess {
  const steps: string[] = [];
  let isDead = false;
  let onDeath: () => void = () => undefined;
  const death = new Promise<void>((resolve) => {
    onDeath = resolve;
  });
  const step = (name: string): Promise<void> | undefined => {
    if (isDead) return new Promise(() => undefined);
    steps.push(name);
    if (steps.length !== at) return undefined;
    isDead = true;
    onDeath();
    return new Promise(() => undefined);
  };
  const call = async (name: string, work: () => unknown) => {
    await step(`before ${name}`);
    const result = await work();
    await step(`after ${name}`);
    return result;
  };
  return {
    steps,
    isDead: () => isDead,
    watch: (name, port) =>
      new Proxy(port, {
        get: (target, property) => {
          const method: unknown = Reflect.get(target, property);
          if (typeof method !== 'function' || READS.test(String(property))) return method;
          return (...args: unknown[]) =>
            call(`${name}.${String(property)}`, () => Reflect.apply(method, target, args));
        },
      }),
    run: (work) => Promise.race([work().then(() => undefined), death]),
  };
}
