import type { Accounts } from '../app/hosting-api.ts';
import type { System } from '../system.ts';

interface Known {
  readonly account: string;
  /** On the monotonic clock. */
  readonly at: number;
}

/** Another process may have found out more by then. */
const GOOD_FOR_MS = 10_000;
/** So many names are remembered; each is looked up again when it is needed. */
const MOST = 1000;

interface Source {
  readonly accounts?: Pick<Accounts, 'find'>;
  readonly system: Pick<System, 'elapsed'>;
}

/** Which account each key opens, as this process knows it. */
export class KnownAccounts {
  readonly #source: Source;
  readonly #known = new Map<string, Known>();

  constructor(source: Source) {
    this.#source = source;
  }

  /** What was found last; before that, every key opens an account of its own. */
  peek(name: string): string {
    return this.#known.get(name)?.account ?? name;
  }

  /** Looks it up unless that was done a moment ago. @throws what the store throws */
  async look(name: string): Promise<void> {
    const { accounts, system } = this.#source;
    if (!accounts) return;
    const known = this.#known.get(name);
    if (known && system.elapsed() - known.at < GOOD_FOR_MS) return;
    const account = await accounts.find(name);
    this.#known.delete(name);
    this.#known.set(name, { account, at: system.elapsed() });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST && oldest !== undefined) this.#known.delete(oldest);
  }
}
