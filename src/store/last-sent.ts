import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ConfirmationId } from '../domain/ids.ts';

const sentOrder = z.object({
  /** The identity of the database. */
  store: z.string().min(1),
  order: z.string().min(1),
});

/** Which order was sent last from here, and from which database. */
export interface SentOrder {
  readonly store: string;
  readonly order: ConfirmationId;
}

/**
 * Keeps it in a file that no backup of the database puts back: a copy of the database that does not know the order is older
 * than that (docs/design.md 4.12).
 */
export interface LastSent {
  /** Called after the database has stored that it was sent, and before the request leaves. */
  write(sent: SentOrder): void;
  /** Undefined where nothing was sent from here, or the file is gone. */
  read(): SentOrder | undefined;
  /** Why nothing can be noted, in a sentence for the operator. */
  readonly fault: string | undefined;
}

const NAME = 'last-sent.json';

/** Keeps it in this folder, for its owner only; nowhere for a database in memory. `newId` keeps processes apart. */
export function createLastSent(folder: string | undefined, newId: () => string): LastSent {
  if (folder === undefined) return { write: () => undefined, read: () => undefined, fault: undefined };
  const path = join(folder, NAME);
  return {
    write: (sent) => {
      // The order itself is stored: that a restore could not be noticed later is no reason to refuse it.
      try {
        replace(path, `${path}.${newId()}.part`, JSON.stringify(sent));
      } catch {}
    },
    read: () => read(path),
    fault: findFault(folder),
  };
}

function replace(path: string, part: string, text: string): void {
  const file = openSync(part, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(part, path);
}

function read(path: string): SentOrder | undefined {
  try {
    return sentOrder.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

function findFault(folder: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return (
      `The folder ${folder} can't be written to: responses to paid orders can't be kept there, and the app ` +
      'would not notice that the database was restored from a backup.'
    );
  }
}
