import { onTestFinished } from 'vitest';
import { HostingClock } from '../../../src/sandbox/hosting/clock.ts';
import type { HostingOptions } from '../../../src/sandbox/hosting/hosting.ts';
import { type Hosting, startHosting } from '../../../src/sandbox/hosting/start.ts';

/** A running service with one account that has paid in 100.00, and a way to call its API. */
export type Caller = ReturnType<typeof openAccount>;

export const ORDER = { plan: 'small', location: 'fra', image: 'debian-13', label: 'web-1' };

const START_MS = Date.UTC(2026, 0, 15, 10);

/** Starts a service whose clock stands still until a test advances it; it is closed when the test ends. */
export async function startCaller(options: HostingOptions = {}): Promise<Caller> {
  const hosting = await startHosting({ clock: new HostingClock(() => START_MS), ...options });
  onTestFinished(() => hosting.close());
  return openAccount(hosting);
}

/** Opens one more account of a service. */
export function openAccount(hosting: Hosting) {
  const account = hosting.accounts.create({ name: 'Example Ltd', balanceMinor: 100_00 });
  const key = hosting.createKey(account);
  const call = async (method: string, path: string, body?: unknown, authorization = `Bearer ${key}`) => {
    const response = await fetch(`${hosting.baseUrl}${path}`, {
      method,
      headers: { authorization },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: readText(await response.text()) };
  };
  const create = (change: Readonly<Record<string, unknown>> = {}) =>
    call('POST', '/servers', { ...ORDER, ...change });
  return { hosting, account, key, call, create };
}

/** The id in an answer. @throws when there is none */
export function idOf({ body }: { readonly body: unknown }): number {
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
