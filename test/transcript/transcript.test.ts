// Temporary, for the time of the rebuild: what some sixty stories of the whole app lead to, word for word, compared with
// golden/*.txt. `TRANSCRIPT=write npx vitest run test/transcript` writes them anew (those of the stories that are run).
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Scene } from './scene.ts';
import { ACCESS } from './stories/access.ts';
import { ACCOUNT } from './stories/account.ts';
import { INSTALLS } from './stories/installs.ts';
import { PURCHASES } from './stories/purchases.ts';
import { REMINDERS } from './stories/reminders.ts';
import { SERVERS } from './stories/servers.ts';
import { SURFACES } from './stories/surfaces.ts';
import { WORKFLOWS } from './stories/workflows.ts';
import type { Stories } from './stories.ts';

const GROUPS: Readonly<Record<string, Stories>> = {
  servers: SERVERS,
  purchases: PURCHASES,
  access: ACCESS,
  account: ACCOUNT,
  reminders: REMINDERS,
  workflows: WORKFLOWS,
  surfaces: SURFACES,
  installs: INSTALLS,
};
const WRITES = process.env.TRANSCRIPT === 'write';
const HEADING = /^=== (.*)\n\n/;

const pathOf = (group: string) => join(import.meta.dirname, 'golden', `${group}.txt`);

function readGolden(group: string): Map<string, string> {
  const text = existsSync(pathOf(group)) ? readFileSync(pathOf(group), 'utf8') : '';
  const stories = text.split(/^(?==== )/m).filter((story) => HEADING.test(story));
  return new Map(
    stories.map((story) => [HEADING.exec(story)?.[1] ?? '', story.replace(HEADING, '').trimEnd()]),
  );
}

describe.concurrent.each(Object.entries(GROUPS))('the transcript of %s', (group, stories) => {
  const golden = readGolden(group);
  const told = new Map<string, string>();

  it.each(Object.entries(stories))('is unchanged: %s', async (name, tell) => {
    const known = golden.get(name)?.split(/\n\n(?=> )/) ?? [];
    const scenes: Scene[] = [];
    await tell(async (options = {}) => {
      const scene = await Scene.start(WRITES ? undefined : known, options);
      scenes.push(scene);
      return scene;
    });
    const [scene] = scenes;
    const text = (await scene?.end()) ?? '';
    told.set(name, text);
    if (!WRITES) expect(text).toBe(golden.get(name));
  });

  afterAll(() => {
    if (!WRITES) return;
    const all = Object.keys(stories).map(
      (name) => `=== ${name}\n\n${told.get(name) ?? golden.get(name) ?? ''}\n`,
    );
    writeFileSync(pathOf(group), all.join('\n'));
  });
});
