import { APP, TEAM, USERS, type User, type UserName } from '../../src/sandbox/slack/workspace.ts';
import { until } from './eventually.ts';
import type { Team } from './team.ts';

type Json = Record<string, unknown>;

export type RawUser = ReturnType<typeof rawUser>;

/**
 * A user of the workspace, or from outside, who can send any signed request: any press, choice or submission, whether or not their
 * screen ever showed the button or form. Users without a screen of their own, such as bots, use another user's.
 */
export function rawUser(team: Team, who: UserName | User, screenOf: UserName = 'nora') {
  const { slack } = team;
  const person = typeof who === 'string' ? USERS[who] : who;
  const name = typeof who === 'string' ? who : screenOf;
  const place = person.isExternal ? '#acme-shared' : '#ops';
  const screen = slack.as(name).in(place);
  const fresh = () => slack.commandFields(name, place, '');
  /** Any interaction; the fields override Slack's. */
  const interacts = (type: string, fields: Json) => {
    const { response_url, trigger_id, channel_id, channel_name } = fresh();
    const payload: Json = {
      type,
      user: { id: person.id, username: person.name, name: person.name, team_id: person.teamId },
      api_app_id: APP.id,
      token: 'deprecated',
      team: { id: TEAM.id, domain: TEAM.domain },
      enterprise: null,
      is_enterprise_install: false,
      trigger_id,
      ...(type === 'view_submission' ? {} : { channel: { id: channel_id, name: channel_name } }),
      ...(type === 'block_actions' ? { response_url } : {}),
      ...fields,
    };
    return slack.deliverSigned({ payload });
  };
  const acts = (action: Json) => interacts('block_actions', { actions: [{ block_id: 'b', ...action }] });
  /** The ephemeral messages that this user sees. */
  const ephemeralMessages = () =>
    screen
      .messages()
      .filter(({ ephemeral }) => ephemeral)
      .map(({ shown }) => shown);
  /** A value that changes whenever their screen does. */
  const mark = () => `${screen.messages().map(({ ts, shown }) => ts + shown)} ${screen.modal()?.hash}`;
  return {
    id: person.id,
    command: (text: string) => slack.deliverSigned({ fields: { ...fresh(), user_id: person.id, text } }),
    presses: (id: string, value: unknown = {}) =>
      acts({ type: 'button', action_id: id, value: JSON.stringify(value) }),
    chooses: (id: string, value: string) =>
      acts({ type: 'static_select', action_id: id, selected_option: { text: { text: value }, value } }),
    submits: (callbackId: string, metadata: unknown, fields: Record<string, string> = {}) =>
      interacts('view_submission', {
        view: {
          id: screen.modal()?.id ?? 'V0CLOSED01',
          type: 'modal',
          callback_id: callbackId,
          private_metadata: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
          state: { values: stateOf(callbackId, fields) },
        },
      }),
    types: (id: string, value: string) =>
      interacts('block_suggestion', { action_id: id, block_id: 'b', value }),
    /** Uses a shortcut, of a message or from anywhere. */
    uses: (type: 'shortcut' | 'message_action', callbackId: string, text: string) => {
      const message = { type: 'message', ts: '1700000000.000100', text };
      const more =
        type === 'shortcut'
          ? { channel: undefined }
          : { message, message_ts: message.ts, response_url: fresh().response_url };
      return interacts(type, { callback_id: callbackId, ...more });
    },
    /** What the open modal shows. */
    modal: () => screen.modal()?.shown ?? '',
    interacts,
    ephemeralMessages,
    mark,
    /** Waits until their screen has changed since that mark. */
    seesChange: async (before: string) => {
      await until(() => mark() !== before, 5);
    },
    /** Their newest entries, all of them by default. */
    audit: (limit = 1000) => team.app.ports.audit.list({ workspaceId: TEAM.id, actorId: person.id, limit }),
  };
}

function stateOf(callbackId: string, fields: Record<string, string>) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      { [`${callbackId}.${name}`]: { type: 'plain_text_input', value } },
    ]),
  );
}

/** A form's metadata, with its own part and its origin. */
export function envelope(metadata: unknown, formId: string, channelId = 'C0OPS00001') {
  return { o: { formId, channelId }, m: metadata };
}

/** The requests that change something, as the hosting service saw them. */
export function changesSeen(team: Team) {
  return team.hosting.requests().filter(({ method }) => method !== 'GET');
}
