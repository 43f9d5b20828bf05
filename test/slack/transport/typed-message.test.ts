import { describe, expect, it } from 'vitest';
import { readTypedMessage } from '../../../src/slack/dispatch-events.ts';
import {
  EVENT_SAMPLES,
  ORGANIZATION,
  OURS,
  SENDERS,
  type Sender,
  THEIRS,
} from '../../support/payloads/samples.ts';

const MEMBER: Sender = SENDERS['a member of a plain workspace'];

const mention = (change: object = {}, envelope: object = {}) => {
  const sample = EVENT_SAMPLES.app_mention(MEMBER);
  return readTypedMessage({ ...sample, ...envelope, event: { ...Object(sample.event), ...change } });
};
const direct = (change: object = {}) => {
  const sample = EVENT_SAMPLES['message.im'](MEMBER);
  return readTypedMessage({ ...sample, event: { ...Object(sample.event), ...change } });
};

describe('a message that a user wrote to the app', () => {
  it.each(
    Object.entries<Sender>(SENDERS),
  )('names the workspace, the user and their home: %s', (_name, sender) => {
    for (const type of ['app_mention', 'message.im'] as const) {
      const { userTeamId, userId } = sender;
      expect(readTypedMessage(EVENT_SAMPLES[type](sender))).toMatchObject({
        place: { workspaceId: OURS, ...(sender.isOrgInstall ? { orgId: ORGANIZATION } : {}) },
        actor: { workspaceId: OURS, userId, ...(userTeamId === THEIRS ? { homeTeamId: THEIRS } : {}) },
        text: 'list',
      });
    }
  });

  it.each([
    { user_team: THEIRS },
    { source_team: THEIRS },
    { user_profile: { team: THEIRS } },
  ])('comes from another organization if any field says so: %j', (more) => {
    const homes = { user_team: OURS, source_team: OURS, ...more };
    expect(mention(homes)?.actor.homeTeamId).toBe(THEIRS);
  });

  it('leaves its user’s home team to be looked up if no field names it and the channel may be shared', () => {
    const unknown = { user_team: undefined, source_team: undefined };
    expect(mention(unknown, { is_ext_shared_channel: true })?.actor.homeTeamId).toBe('');
    expect(mention(unknown, { is_ext_shared_channel: undefined })?.actor.homeTeamId).toBe('');
    expect(mention(unknown, { is_ext_shared_channel: false })?.actor.homeTeamId).toBeUndefined();
  });

  it.each([
    ['<@U0BOT00001> reboot web-1', 'reboot web-1'],
    ['  <@U0BOT00001|vps>, reboot web-1', 'reboot web-1'],
    ['<@U0BOT00001>: `reboot web-1`', 'reboot web-1'],
    ['<@U0BOT00001> /vps reboot web-1', 'reboot web-1'],
    ['<@U0BOT00001>\nreboot web-1', 'reboot web-1'],
    ['<@U0BOT00001> reboot web-1\nstop web-2', 'reboot web-1'],
    ['<@U0BOT00001>', ''],
    ['please <@U0BOT00001> reboot web-1', undefined],
    ['<@UANOTHER01> <@U0BOT00001> reboot web-1', undefined],
  ])('is a command only after a mention that begins it: %j', (text, command) => {
    expect(mention({ text })?.text).toBe(command);
  });

  it.each([
    'reboot web-1',
    '<@U0BOT00001> reboot web-1',
    '/vps reboot web-1',
    'reboot web-1\nnow',
  ])('is a command as a whole in a direct message: %j', (text) => {
    expect(direct({ text })?.text).toBe('reboot web-1');
  });

  it('belongs to its thread, and a mention outside of threads starts one', () => {
    expect(mention({ thread_ts: '9.1' })?.thread).toEqual({ ts: '9.1', isOpen: true });
    expect(mention({ ts: '9.3', thread_ts: undefined })?.thread).toEqual({ ts: '9.3', isOpen: false });
    expect(direct()?.thread).toBeUndefined();
    expect(direct({ thread_ts: '9.1' })?.thread).toEqual({ ts: '9.1', isOpen: true });
  });

  it.each([
    { bot_id: 'B1' },
    { user: 'USLACKBOT' },
    { user: undefined },
    { subtype: 'bot_message' },
    { subtype: 'message_changed', message: { user: 'U1', text: 'reboot web-1' } },
    { subtype: 'message_deleted' },
    { subtype: 'channel_join' },
    { edited: { user: 'U1', ts: '9.9' } },
    { ts: 'soon' },
  ])('is not taken from other messages that look like one: %j', (change) => {
    expect(mention(change)).toBeUndefined();
    expect(direct(change)).toBeUndefined();
  });

  it.each(['thread_broadcast', 'file_share', 'me_message'])('may have the subtype %s', (subtype) => {
    expect(direct({ subtype })?.text).toBe('list');
    expect(mention({ subtype })?.text).toBe('list');
  });

  it('is ignored in a channel if it doesn’t mention the app', () => {
    expect(direct({ channel_type: 'channel' })).toBeUndefined();
    expect(direct({ channel_type: undefined })).toBeUndefined();
  });
});
