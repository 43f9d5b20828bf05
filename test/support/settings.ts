import { parseEnv } from 'node:util';
import { parseConfig } from '../../src/config.ts';

/**
 * Names every setting, by watching the app read an environment in which nothing is set. Leaves out the names under which secrets
 * may be in files (`ENCRYPTION_KEYS_FILE`): each belongs to a setting.
 */
export function listSettings(): readonly string[] {
  const read = new Set<string>();
  const watched = new Proxy<Record<string, string>>(
    {},
    {
      get: (_target, name) => {
        read.add(String(name));
        return undefined;
      },
    },
  );
  try {
    parseConfig(watched);
  } catch {
    // It throws, since required ones are missing.
  }
  return [...read].filter((name) => !name.endsWith('_FILE'));
}

/** Reads a file of variables as Node reads it at the start. */
export function parseEnvFile(text: string): Record<string, string> {
  return Object.fromEntries(Object.entries(parseEnv(text)).map(([name, value]) => [name, value ?? '']));
}
