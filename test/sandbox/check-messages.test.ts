import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';
import { type LocalSlack, startSlack } from '../support/slack/local-slack.ts';

const TOKEN = 'xoxb-4096-never-to-be-printed';

function run(slack: LocalSlack) {
  return new Promise<{ code: number; output: string; words: string }>((resolve) => {
    execFile(
      'node_modules/.bin/tsx',
      ['src/sandbox/check-messages.ts'],
      {
        env: { PATH: process.env.PATH, SLACK_BOT_TOKEN: TOKEN, SLACK_API_URL: slack.apiUrl },
        maxBuffer: 1e8,
      },
      (error, output, words) => resolve({ code: Number(error?.code ?? 0), output, words }),
    );
  });
}

test('npm run check:messages has Slack validate every message and form, posts nothing and names what is refused', async () => {
  await using slack = await startSlack({
    hasRateLimits: false,
    app: { signingSecret: 'signing-secret', botToken: TOKEN },
  });
  const good = await run(slack);
  expect(good).toMatchObject({
    code: 0,
    words: expect.stringMatching(/^100 of \d+ messages and forms checked\.$/m),
  });
  expect(good.output).toMatch(/^(\d{3,}) of \1 messages and forms are accepted\.\n$/);
  expect(slack.messages()).toEqual([]);
  slack.faults.refuseBlock('data_table');
  const bad = await run(slack);
  expect(bad.code).toBe(1);
  expect(bad.output).toMatch(/^catalog, typical: .*"pointer":"\/blocks\/\d+\/type"/m);
  expect(bad.output + bad.words).not.toContain(TOKEN);
});
