import { Refusal } from '../domain/errors.ts';
import { deletionWord, type Server } from '../domain/server.ts';
import { isUnanswered } from './change-power.ts';
import { getServer, type ServerRef } from './find-server.ts';
import type { HostingApi } from './ports.ts';
import { defineUseCase } from './use-case.ts';

/** Looks at the server that is to be deleted, for the dialog. */
export const prepareDelete = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'reads',
  run: async (input: { ref: ServerRef }, scene): Promise<Server> => getServer(input.ref, scene),
});

export interface Deletion {
  readonly server: Server;
  /** Whether it is gone; undefined when neither the answer came nor a look after it. */
  readonly isGone?: boolean;
}

/**
 * Deletes the server whose label was typed.
 * Money effect: the rest of the paid month is lost (API document, section 3).
 * @throws Refusal `label_differs`, `unknown_server`
 */
export const deleteServer = defineUseCase({
  name: 'delete',
  needs: 'manager',
  effect: 'changes',
  subject: ({ id, typedLabel }) => ({ serverId: id, label: typedLabel }),
  run: async (input: { id: number; typedLabel: string }, scene): Promise<Deletion> => {
    const server = await getServer({ id: input.id }, scene, { freshness: 'fresh' });
    const wanted = deletionWord(server);
    if (input.typedLabel.trim() !== wanted) {
      throw new Refusal('label_differs', { typed: input.typedLabel, label: wanted });
    }
    const hosting = await scene.hosting();
    try {
      await hosting.deleteServer(server.id);
      return { server, isGone: true };
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      const isGone = await isGoneNow(server.id, hosting);
      if (!isGone) scene.doubt(error.code);
      return { server, ...(isGone === undefined ? {} : { isGone }) };
    }
  },
});

async function isGoneNow(id: number, hosting: HostingApi): Promise<boolean | undefined> {
  try {
    const seen = (await hosting.listServers({ freshness: 'fresh' })).find((server) => server.id === id);
    return seen === undefined || seen.state === 'deleted';
  } catch {
    return undefined;
  }
}
