import type { Scene } from '../scene.ts';
import type { Stories } from '../stories.ts';

/** An owner issues a key in the form, and copies it. */
async function issues(scene: Scene): Promise<string> {
  const olga = scene.as('olga');
  await olga.types('/vps workflow');
  await olga.presses('Issue a key…');
  await olga.fills({ Name: 'nightly', Actions: 'Reboot', Servers: 'web-*', Expires: '30 days' });
  await olga.submits();
  await olga.sees('Copy it now');
  const key = /vpswf_[\w-]{32}/.exec(olga.persona.modal()?.shown ?? '')?.[0] ?? '';
  await olga.closes();
  return key;
}

export const WORKFLOWS: Stories = {
  'a workflow with a key': async (start) => {
    const scene = await start({ servers: { web: 2, db: 1 }, hasStep: true });
    const key = await issues(scene);
    const channel = scene.team.slack.channel('#ops')?.id ?? '';
    await (await scene.runsWorkflow({ action: 'reboot', server: 'web-1', key, channel })).ended;
    await (await scene.runsWorkflow({ action: 'stop', server: 'web-1', key })).ended;
    await (await scene.runsWorkflow({ action: 'reboot', server: 'db-1', key })).ended;
    await (await scene.runsWorkflow({ action: 'reboot', server: 'web', key })).ended;
    const olga = scene.as('olga');
    await olga.types('/vps workflow');
    await olga.presses('Revoke');
    await olga.sees('No keys have been issued');
    await (await scene.runsWorkflow({ action: 'reboot', server: 'web-2', key })).ended;
    await scene.as('mara').types('/vps workflow');
  },
  'a workflow whose reboot is unclear': async (start) => {
    const scene = await start({ servers: { web: 1 }, hasStep: true });
    const key = await issues(scene);
    await scene.fails({ on: 'reboot', kind: 'status_500' });
    await (await scene.runsWorkflow({ action: 'reboot', server: 'web-1', key })).ended;
  },
  'a workflow without a key asks in the channel': async (start) => {
    const scene = await start({ servers: { web: 1 }, hasStep: true });
    const channel = scene.team.slack.channel('#ops')?.id ?? '';
    const asks = () => scene.runsWorkflow({ action: 'reboot', server: 'web-1', channel });
    const first = await asks();
    await scene.as('vera').presses('Reboot');
    await scene.as('otto').presses('Reboot');
    await first.ended;
    const second = await asks();
    await scene.as('otto').presses('Cancel');
    await second.ended;
  },
  'a workflow without a key that is not answered': async (start) => {
    const scene = await start({ servers: { web: 1 }, hasStep: true });
    const channel = scene.team.slack.channel('#ops')?.id ?? '';
    const run = await scene.runsWorkflow({ action: 'reboot', server: 'web-1', channel });
    await scene.passes(25 * 3_600_000, 'a day passes');
    await run.ended;
  },
};
