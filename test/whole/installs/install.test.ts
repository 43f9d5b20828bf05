import { describe, expect, it } from 'vitest';
import { startInstalls } from '../../support/installs.ts';

describe('an install', () => {
  it('ends on a page that names the workspace and the next step, and the app works there', async () => {
    await using team = await startInstalls();
    const page = await team.install(team.first);
    expect(page.status).toBe(200);
    expect(page.text).toContain('vps is ready in Sandbox');
    expect(page.text).toContain('/vps connect');
    const owner = team.first.as('olga').in('#ops');
    await owner.types('/vps connect');
    await owner.sees('Enter the API key');
    expect(team.slack.brokenLaws()).toEqual([]);
  });
});
