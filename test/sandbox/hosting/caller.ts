import { onTestFinished } from 'vitest';
import type { Account } from '../../../src/sandbox/hosting/accounts.ts';
import { HostingClock } from '../../../src/sandbox/hosting/clock.ts';
import type { HostingOptions } from '../../../src/sandbox/hosting/hosting.ts';
import { type Hosting, startHosting } from '../../../src/sandbox/hosting/start.ts';

/** What came back over the wire. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A running service with one account that has paid in 100.00, and a way to call its API. */
export interface Caller {
  readonly hosting: Hosting;
  readonly account: Account;
  readonly key: string;
  call(method: string, path: string, body?: unknown, authorization?: string): Promise<Answer>;
  create(change?: Record<string, unknown>): Promise<Answer>;
}

export const ORDER = { plan: 'small', location: 'fra', image: 'debian-13', label: 'web-1' };

/** A clock that is stopped until a test advances it. */
function frozenClock(start = '2026-01-15T10:00:00.000Z'): HostingClock {
  const startMs = Date.parse(start);
  return new HostingClock(() => startMs);
}

/** Starts a service whose clock stands still; it is closed when the test ends. */
export async function startCaller(options: HostingOptions = {}): Promise<Caller> {
  const hosting = await startHosting({ clock: frozenClock(), ...options });
  onTestFinished(() => hosting.close());
  return openAccount(hosting);
}

/** Opens one more account of a service. */
export function openAccount(hosting: Hosting): Caller {
  const account = hosting.accounts.create({ name: 'Example Ltd', balanceMinor: 100_00 });
  const key = hosting.createKey(account);
  const call: Caller['call'] = async (method, path, body, authorization = `Bearer ${key}`) => {
    const response = await fetch(`${hosting.baseUrl}${path}`, {
      method,
      headers: { authorization },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: readText(await response.text()) };
  };
  const create: Caller['create'] = (change) => call('POST', '/servers', { ...ORDER, ...change });
  return { hosting, account, key, call, create };
}

/** The id in an answer. @throws when there is none */
export function idOf({ body }: Answer): number {
  const id: unknown = Reflect.get(Object(body), 'id');
  if (typeof id !== 'number') throw new Error(`No id in ${JSON.stringify(body)}`);
  return id;
}

/** JSON where it is JSON, and the text itself where a fault has spoilt it. */
function readText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
