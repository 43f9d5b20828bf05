import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Folder, openFolder } from './keep/folder.ts';
import { type Kept, readKept } from './keep/kept.ts';

/** What can go wrong with a start has gone well: nothing is in the way, and what is kept can be read. */
export interface Prepared {
  readonly folder: Folder | undefined;
  readonly kept: Kept;
}

/**
 * Looks at the three ports and opens the folder. It is little to load, so that whoever is refused hears it at once.
 * @throws Error with `code: 'EADDRINUSE'` and the port, FolderRefusal
 */
export async function prepare(wish: {
  readonly port: number;
  readonly folder?: string | undefined;
}): Promise<Prepared> {
  for (const port of [wish.port, wish.port + 1, wish.port + 2]) await lookAtPort(port);
  const folder = wish.folder === undefined ? undefined : openFolder(wish.folder);
  try {
    return { folder, kept: await readKept(folder) };
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
