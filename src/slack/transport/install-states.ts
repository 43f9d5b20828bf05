import { createHash } from 'node:crypto';
import { type InstallURLOptions, InvalidStateError, type StateStore } from '@slack/oauth';
import type { InstallStates } from '../../app/installations/ports.ts';
import type { System } from '../../system.ts';

/** How long a user has to press Allow. */
export const STATE_SECONDS = 600;
const STATE_BYTES = 32;

/** Thrown where nothing more can be begun for a while. */
export class TooManyInstalls extends Error {
  override readonly name = 'TooManyInstalls';
}

/** States that are random, kept by their hash, and taken once. The library binds each to the browser by a cookie. */
export function createStateStore(
  states: InstallStates,
  system: Pick<System, 'now' | 'newToken'>,
  asked: InstallURLOptions,
): StateStore & { generateStateParam(): Promise<string> } {
  return {
    generateStateParam: async () => {
      const state = system.newToken(STATE_BYTES);
      const now = system.now();
      if (await states.put(hashOf(state), now, now + STATE_SECONDS * 1000)) return state;
      throw new TooManyInstalls();
    },
    verifyStateParam: async (_now, state) => {
      if (await states.take(hashOf(state), system.now())) return asked;
      throw new InvalidStateError('the state is unknown, was used or has expired');
    },
  };
}

function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('base64url');
}
