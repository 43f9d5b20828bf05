import { parseArgs } from 'node:util';
import { findKey, keepKey } from '../app/account/connect-key.ts';
import { ConfigError, parseKeyConfig } from '../config.ts';
import { isExpected } from '../domain/errors.ts';
import { createHosting } from '../hosting/client.ts';
import { openStore } from '../store/open-store.ts';
import { realSystem } from '../system.ts';
import { createVault, parseKeyring } from '../vault.ts';

const USAGE = `Usage:
  npm run key -- set --workspace T…     reads the hosting API key from standard input, tries it, and keeps it
  npm run key -- remove --workspace T…  forgets it
  npm run key -- list                   lists the workspaces that have one`;

/** The API key without Slack: for whoever has no public address. Works beside a running app. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { workspace: { type: 'string' } },
    allowPositionals: true,
  });
  const [act = ''] = positionals;
  const workspaceId = values.workspace ?? '';
  const isPlain = act === 'list' || (['set', 'remove'].includes(act) && /^[TE][A-Z0-9]+$/.test(workspaceId));
  if (!isPlain) throw new Error(USAGE);
  const config = parseKeyConfig(process.env);
  const vault = createVault(parseKeyring(config.ENCRYPTION_KEYS.reveal()));
  const store = await openStore({ databaseUrl: config.DATABASE_URL, vault, system: realSystem, lock: false });
  try {
    if (act === 'list')
      return say((await store.apiKeys.listWorkspaces()).join('\n') || 'No workspace has a key.');
    if (act === 'remove') {
      const wasThere = await store.apiKeys.remove(workspaceId);
      return say(wasThere ? 'The API key was forgotten.' : 'There was no API key to forget.');
    }
    const key = findKey(await readInput());
    if (!key) throw new Error('Standard input holds no API key: one line of letters, digits and signs.');
    const hosting = createHosting({
      baseUrl: config.HOSTING_BASE_URL,
      timeoutMs: config.HOSTING_TIMEOUT_MS,
      system: realSystem,
      calls: store.apiCalls,
    });
    try {
      await keepKey({
        workspaceId,
        key,
        setBy: 'command line',
        hosting: hosting.of(key),
        apiKeys: store.apiKeys,
        now: () => realSystem.now(),
      });
      say(`The API key works and is kept, encrypted, for workspace ${workspaceId}.`);
    } finally {
      await hosting.close();
    }
  } finally {
    await store.close();
  }
}

async function readInput(): Promise<string> {
  if (process.stdin.isTTY) say('Paste the API key, then press Enter and Ctrl-D:');
  let text = '';
  for await (const part of process.stdin.setEncoding('utf8')) text += part;
  return text;
}

function say(words: string): void {
  process.stdout.write(`${words}\n`);
}

function describeFault(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (isExpected(error))
    return `The key was not kept: the hosting API says ${error.code.replaceAll('_', ' ')}.`;
  return error instanceof Error ? error.message : 'That did not work.';
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeFault(error)}\n`);
  process.exitCode = 1;
});
