import { type HostingCode, isExpected, type RefusalCode } from '../domain/errors.ts';
import type { Operation } from '../domain/operation.ts';
import { defineUseCase } from './use-case.ts';

export interface Status {
  /** `ok`, or why the API could not be used just now. */
  readonly api: 'ok' | HostingCode | RefusalCode | 'unknown_code';
  /** What belongs to that code. */
  readonly details?: object;
  readonly servers?: number;
  readonly answerMs?: number;
  readonly budget?: { readonly taken: number; readonly limit: number; readonly waiting: number };
  /** Confirmed and not ended yet, in doubt included. */
  readonly open: readonly Operation[];
  /** Root passwords that wait to be saved. */
  readonly passwordsHeld: number;
}

/** Looks whether the API answers and takes the key, how much of the minute is used, and what is in doubt. */
export const readStatus = defineUseCase({
  name: 'status',
  needs: 'viewer',
  effect: 'reads',
  run: async (_input: Record<never, never>, scene): Promise<Status> => {
    const { store, system } = scene.services;
    const { workspaceId } = scene.actor;
    const open = await store.ledger.listOpen(workspaceId);
    const passwordsHeld = (await store.passwords.listHeld(workspaceId)).length;
    try {
      const hosting = await scene.hosting();
      const startedAt = system.elapsed();
      const servers = await hosting.listServers({ freshness: 'fresh' });
      const answerMs = Math.round(system.elapsed() - startedAt);
      return { api: 'ok', servers: servers.length, answerMs, budget: hosting.budget(), open, passwordsHeld };
    } catch (error) {
      if (!isExpected(error)) throw error;
      return { api: error.code, details: error.details, open, passwordsHeld };
    }
  },
});
