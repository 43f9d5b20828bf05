import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type HostingSnapshot, snapshotSchema } from '../hosting/snapshot.ts';
import { type SlackSnapshot, slackSnapshotSchema } from '../slack/messages.ts';
import { type TourDone, tourSchema } from '../tour/tour.ts';
import type { Folder } from './folder.ts';
import { StateFile, writeWhole } from './state-file.ts';

const text = z.string().min(1);

const secretsSchema = z.strictObject({
  version: z.literal(1),
  signingSecret: text,
  botToken: text,
  /** As in `ENCRYPTION_KEYS`: without it the app's sealed rows don't open. */
  encryptionKeys: text,
});

type Secrets = z.output<typeof secretsSchema>;

/** What an earlier sandbox stored, or what a new one begins with. */
export interface StoredState {
  readonly isNew: boolean;
  readonly secrets: Secrets;
  readonly hosting: HostingSnapshot | undefined;
  readonly tour: TourDone | undefined;
  readonly slack: SlackSnapshot | undefined;
}

/** Reads the whole stored state before anything is written; without a folder everything is new. @throws FolderRefusal */
export async function readStored(folder: Folder | undefined): Promise<StoredState> {
  const secrets = folder?.read('sandbox.json', secretsSchema);
  const hosting = folder?.read('hosting.json', snapshotSchema);
  const tour = folder?.read('tour.json', tourSchema);
  const slack = folder?.read('slack.json', slackSnapshotSchema);
  const rest = { hosting, tour, slack };
  if (secrets) return { isNew: false, secrets, ...rest };
  const made = makeSecrets();
  if (folder) await writeWhole(folder.pathOf('sandbox.json'), `${JSON.stringify(made)}\n`);
  return { isNew: true, secrets: made, ...rest };
}

/** Saves a state in a file of the folder; call the returned function whenever it has changed. No folder: no effect. */
export function saveIn(
  folder: Folder | undefined,
  name: string,
  describe: () => unknown,
  onClose: (end: () => Promise<void>) => unknown,
): () => void {
  if (!folder) return () => undefined;
  const file = new StateFile(folder.pathOf(name), describe);
  file.touch();
  onClose(() => file.flush());
  return () => file.touch();
}

function makeSecrets(): Secrets {
  return {
    version: 1,
    signingSecret: randomBytes(16).toString('hex'),
    botToken: `xoxb-${randomBytes(16).toString('hex')}`,
    encryptionKeys: `sandbox:${randomBytes(32).toString('base64')}`,
  };
}
