import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Folder, openFolder } from './keep/folder.ts';
import { readStored, type StoredState } from './keep/stored-state.ts';

/** What can go wrong with a start has gone well: nothing is in the way, and what is kept can be read. */
export interface Prepared {
  readonly folder: Folder | undefined;
  readonly stored: StoredState;
}

/**
 * Looks at the three ports and opens the folder. It is little to load, so that whoever is refused hears it at once.
 * @throws Error with `code: 'EADDRINUSE'` and the port, FolderRefusal
 */
export async function prepare(options: {
  readonly port: number;
  readonly folder?: string | undefined;
}): Promise<Prepared> {
  for (const port of [options.port, options.port + 1, options.port + 2]) await lookAtPort(port);
  const folder = options.folder === undefined ? undefined : openFolder(options.folder);
  try {
    return { folder, stored: await readStored(folder) };
  } catch (error) {
    folder?.close();
    throw error;
  }
}

async function lookAtPort(port: number): Promise<void> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
