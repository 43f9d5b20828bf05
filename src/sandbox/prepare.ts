import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Folder, openFolder } from './keep/folder.ts';
import { readStored, type StoredState } from './keep/stored-state.ts';

/** The checks of a start are done: the ports are free, and the stored state can be read. */
export interface Prepared {
  readonly folder: Folder | undefined;
  readonly stored: StoredState;
}

/**
 * Checks the three ports and opens the folder. This module loads fast, so that a refusal is shown immediately.
 * @throws Error with `code: 'EADDRINUSE'` and the port, FolderRefusal
 */
export async function prepare(options: {
  readonly port: number;
  readonly folder?: string | undefined;
}): Promise<Prepared> {
  for (const port of [options.port, options.port + 1, options.port + 2]) await checkPort(port);
  const folder = options.folder === undefined ? undefined : openFolder(options.folder);
  try {
    return { folder, stored: await readStored(folder) };
  } catch (error) {
    folder?.close();
    throw error;
  }
}

async function checkPort(port: number): Promise<void> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
