import { describe, expect, it } from 'vitest';
import { until } from '../../support/eventually.ts';
import { changesSeen, rawUser } from '../../support/raw-user.ts';
import { readMetrics, startTeam, type Team } from '../../support/team.ts';

const startInSocketMode = (servers = 0) => startTeam({ mode: 'socket', servers });

/** A second WebSocket takes the place of the first. */
async function refresh({ slack, app }: Team): Promise<void> {
  slack.sockets.refresh();
  await until(() => slack.sockets.count === 2, 1);
  await until(() => slack.sockets.count === 1);
  expect(await app.faults()).toEqual([]);
}

describe.concurrent('in Socket Mode', () => {
  it('requests of Slack over HTTP are not served, signed or not, while health and metrics are', async () => {
    await using team = await startInSocketMode();
    const { slack, appUrl } = team;
    const body = new URLSearchParams(slack.commandFields('olga', '#ops', 'list')).toString();
    for (const sent of [slack.deliverRaw(body, {}), slack.deliverAt(0, body)])
      expect(await sent).toMatchObject({ status: 404 });
    for (const page of ['livez', 'readyz']) expect((await fetch(`${appUrl}/${page}`)).status).toBe(200);
    expect(await readMetrics(appUrl)).toContain('vps_operations_open');
    expect(team.hosting.requests()).toEqual([]);
  });

  it('/readyz says that the connection is lost, and why, and /metrics that it is', async ({ expect }) => {
    await using team = await startInSocketMode();
    team.slack.sockets.disable();
    const ready = async () => {
      const answer = await fetch(`${team.appUrl}/readyz`);
      return `${answer.status} ${await answer.text()}`;
    };
    await expect
      .poll(ready)
      .toBe('503 Socket Mode is turned off: turn it on in the app’s settings, or remove SLACK_APP_TOKEN\n');
    expect(await readMetrics(team.appUrl)).toMatch(/^vps_ready 0\n(.*\n)*vps_slack_connected 0$/m);
    team.slack.app.isSocketMode = true;
    await expect.poll(ready).toBe('200 ok\n');
  });

  it('an envelope whose payload has no request ID counts once by its own ID', async ({ expect }) => {
    await using team = await startInSocketMode(1);
    const fields = { ...team.slack.commandFields('otto', '#ops', 'stop web-1'), trigger_id: '' };
    const delivery = await team.slack.deliverSigned({ fields });
    await expect.poll(() => changesSeen(team).length).toBe(1);
    await refresh(team);
    await team.slack.redeliver(delivery);
    const codes = async () => (await rawUser(team, 'otto').audit()).map(({ code }) => code);
    await expect.poll(codes).toEqual(['already_handled', undefined, undefined]);
    expect(changesSeen(team)).toHaveLength(1);
  });

  it('an answer is posted if its WebSocket closes before the ack', async () => {
    await using team = await startInSocketMode(1);
    const { slack, hosting } = team;
    hosting.faults.add({ on: 'servers', kind: 'slow', delayMs: 300 });
    const viewer = slack.as('vera');
    const typed = viewer.types('/vps list');
    await until(() => hosting.requests().some(({ path }) => path.includes('servers')));
    slack.sockets.drop();
    await typed;
    await viewer.sees('web-1', 2000);
    expect(slack.traffic().filter(({ what }) => what === 'response_url')).toHaveLength(1);
  });
});
