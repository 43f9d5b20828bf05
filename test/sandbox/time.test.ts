import { expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/start.ts';
import { LocalSlack } from '../support/slack/local-slack.ts';
import { findThreePorts } from './page/support/ports.ts';

const HOURS_MS = 3_600_000;

it('the time that the panel skips passes for the app and for Slack as well: a role for 8 hours has expired a day later', async () => {
  const sandbox = await startSandbox({ port: await findThreePorts(), logLevel: 'fatal' });
  try {
    const { panel, app } = sandbox;
    const slack = new LocalSlack(sandbox.slack);
    const olga = slack.as('olga').in('#ops');
    const nora = slack.as('nora').in('#ops');
    await olga.types('/vps access grant @nora viewer for 8h');
    await nora.types('/vps list');
    expect(nora.screen()).not.toContain('Ask for access');
    expect(await panel.perform({ do: 'skip_time', step: 'day' })).toEqual({ ok: true });
    expect(app.ports.system.now() - Date.now()).toBeGreaterThan(23 * HOURS_MS);
    await nora.types('/vps list');
    await expect.poll(() => nora.screen()).toContain('Ask for access');
    const sentAtMs = 1000 * Number(nora.messages().at(-1)?.ts);
    expect(sentAtMs - Date.now()).toBeGreaterThan(23 * HOURS_MS);
  } finally {
    await sandbox.close();
  }
});
