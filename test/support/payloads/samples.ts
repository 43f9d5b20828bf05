import { OTHER_TEAM, TEAM } from '../../../src/sandbox/slack/workspace.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Where a payload comes from, after the samples in the tests of Slack's SDKs for Java and Python.
 * IDs are invented; which of them Slack puts where is what the samples are about.
 */
export interface Sender {
  readonly userId: string;
  /** The user's own team. */
  readonly userTeamId: string | undefined;
  /** The team of a payload that is about a message. */
  readonly messageTeamId: string | null;
  /** The team of a payload that is about a view: the one of the user who has it open. */
  readonly viewTeamId: string | null;
  /** Where a view says that its app is installed; the workspace unless it is an organization. */
  readonly installedIn?: string;
  readonly enterpriseId?: string;
  readonly isOrgInstall?: boolean;
}

export const OURS = TEAM.id;
export const THEIRS = OTHER_TEAM.id;
export const ORGANIZATION = 'E0GROUP001';

/** The kinds of users who can reach an app, by what Slack says about them. */
export const SENDERS = {
  'a member of a plain workspace': {
    userId: 'U0MEMBER01',
    userTeamId: OURS,
    messageTeamId: OURS,
    viewTeamId: OURS,
  },
  'a user of another organization, in a shared channel': {
    userId: 'U0PARTNER1',
    userTeamId: THEIRS,
    messageTeamId: OURS,
    viewTeamId: THEIRS,
  },
  'a member who is at home in another workspace of the same Enterprise Grid': {
    userId: 'W0MEMBER01',
    userTeamId: THEIRS,
    messageTeamId: OURS,
    viewTeamId: THEIRS,
    enterpriseId: ORGANIZATION,
  },
  'a member of an Enterprise Grid that installed the app for all its workspaces': {
    userId: 'W0MEMBER02',
    userTeamId: OURS,
    messageTeamId: null,
    viewTeamId: null,
    installedIn: ORGANIZATION,
    enterpriseId: ORGANIZATION,
    isOrgInstall: true,
  },
} as const satisfies Readonly<Record<string, Sender>>;

/** A slash command's form: everything in it is text, and the flag is the word `true` or `false`. */
export function commandSample(sender: Sender): Readonly<Record<string, string>> {
  return {
    token: 'not-used-any-more',
    team_id: sender.messageTeamId ?? OURS,
    team_domain: 'ours',
    ...(sender.enterpriseId ? { enterprise_id: sender.enterpriseId, enterprise_name: 'Group' } : {}),
    channel_id: 'C0CHANNEL1',
    channel_name: 'general',
    user_id: sender.userId,
    user_name: 'somebody',
    command: '/vps',
    text: 'list',
    api_app_id: 'A0APP00001',
    is_enterprise_install: String(sender.isOrgInstall ?? false),
    response_url: 'https://hooks.slack.com/commands/T0OURS0001/1/x',
    trigger_id: '1.2.command',
  };
}

function teamOf(id: string | null, { enterpriseId }: Sender) {
  if (id === null) return null;
  const enterprise = enterpriseId ? { enterprise_id: enterpriseId, enterprise_name: 'Group' } : {};
  return { id, domain: 'somewhere', ...enterprise };
}

function interactionSample(type: string, teamId: string | null, sender: Sender): Json {
  const { userId, userTeamId, enterpriseId } = sender;
  return {
    type,
    user: { id: userId, username: 'somebody', name: 'somebody', ...(userTeamId && { team_id: userTeamId }) },
    api_app_id: 'A0APP00001',
    token: 'not-used-any-more',
    team: teamOf(teamId, sender),
    enterprise: enterpriseId ? { id: enterpriseId, name: 'Group' } : null,
    is_enterprise_install: sender.isOrgInstall ?? false,
  };
}

/** A view of ours as it stands in payloads: it names the user's team, and where the app is installed. */
function viewSample({ viewTeamId, userTeamId, installedIn = OURS }: Sender): Json {
  return {
    id: 'V0VIEW0001',
    team_id: viewTeamId ?? userTeamId,
    type: 'modal',
    callback_id: 'create',
    private_metadata: '',
    state: { values: {} },
    hash: '1.x',
    app_id: 'A0APP00001',
    app_installed_team_id: installedIn,
    bot_id: 'B0BOT00001',
    blocks: [],
  };
}

const pressed = { action_id: 'reboot', block_id: 'b', type: 'button', value: '{}', action_ts: '10.1' };
const messageContainer = {
  type: 'message',
  message_ts: '9.1',
  channel_id: 'C0CHANNEL1',
  is_ephemeral: false,
};

export const messagePressSample = (sender: Sender): Json => ({
  ...interactionSample('block_actions', sender.messageTeamId, sender),
  container: messageContainer,
  channel: { id: 'C0CHANNEL1', name: 'general' },
  message: { type: 'message', ts: '9.1', text: 'hello', bot_id: 'B0BOT00001' },
  state: { values: {} },
  response_url: 'https://hooks.slack.com/actions/T0OURS0001/1/x',
  trigger_id: '1.2.press',
  actions: [pressed],
});

export const viewPressSample = (sender: Sender): Json => ({
  ...interactionSample('block_actions', sender.viewTeamId, sender),
  container: { type: 'view', view_id: 'V0VIEW0001' },
  view: viewSample(sender),
  trigger_id: '1.2.press',
  actions: [pressed],
});

export const submissionSample = (sender: Sender): Json => ({
  ...interactionSample('view_submission', sender.viewTeamId, sender),
  trigger_id: '1.2.submission',
  view: viewSample(sender),
  response_urls: [],
});

export const viewSuggestionSample = (sender: Sender): Json => ({
  ...interactionSample('block_suggestion', sender.viewTeamId, sender),
  container: { type: 'view', view_id: 'V0VIEW0001' },
  view: viewSample(sender),
  action_id: 'create.image',
  block_id: 'image',
  value: 'deb',
});

export const messageSuggestionSample = (sender: Sender): Json => ({
  ...interactionSample('block_suggestion', sender.messageTeamId, sender),
  container: messageContainer,
  channel: { id: 'C0CHANNEL1', name: 'general' },
  action_id: 'manage',
  block_id: 'menu',
  value: 'web',
});

/** A shortcut from anywhere: it has neither a channel nor a `response_url`. */
export const globalShortcutSample = (sender: Sender): Json => ({
  ...interactionSample('shortcut', sender.messageTeamId, sender),
  action_ts: '10.1',
  callback_id: 'any',
  trigger_id: '1.2.shortcut',
});

/** A shortcut on a message, which may stand in a thread. */
export const messageShortcutSample = (sender: Sender): Json => ({
  ...interactionSample('message_action', sender.messageTeamId, sender),
  action_ts: '10.1',
  callback_id: 'any',
  trigger_id: '1.2.shortcut',
  response_url: 'https://hooks.slack.com/app/T0OURS0001/1/x',
  message_ts: '9.2',
  channel: { id: 'C0CHANNEL1', name: 'general' },
  message: { type: 'message', user: sender.userId, ts: '9.2', thread_ts: '9.1', text: 'web-1 is slow' },
});

/**
 * An event's envelope. In a shared channel `team_id` may be the team of the user who acted; `context_team_id` and
 * `authorizations` are about the workspace that the event is delivered for.
 */
function eventSample(event: Json, sender: Sender): Json {
  const { userTeamId, enterpriseId, isOrgInstall } = sender;
  const isShared = userTeamId === THEIRS && enterpriseId === undefined;
  return {
    token: 'not-used-any-more',
    team_id: isShared ? THEIRS : OURS,
    context_team_id: OURS,
    context_enterprise_id: enterpriseId ?? null,
    ...(enterpriseId && { enterprise_id: enterpriseId }),
    api_app_id: 'A0APP00001',
    event,
    type: 'event_callback',
    event_id: 'Ev0EVENT01',
    event_time: 10,
    authorizations: [
      {
        enterprise_id: enterpriseId ?? null,
        team_id: isOrgInstall ? null : OURS,
        user_id: 'U0BOT00001',
        is_bot: true,
        is_enterprise_install: isOrgInstall ?? false,
      },
    ],
    is_ext_shared_channel: isShared,
  };
}

/** In a mention, `team` is the workspace of the app; only `user_team` says where the user is at home. */
const mentionEvent = ({ userId, userTeamId }: Sender) => ({
  type: 'app_mention',
  user: userId,
  text: '<@U0BOT00001> list',
  ts: '9.3',
  thread_ts: '9.1',
  channel: 'C0CHANNEL1',
  event_ts: '9.3',
  team: OURS,
  user_team: userTeamId,
  source_team: userTeamId,
});

const directMessageEvent = ({ userId, userTeamId }: Sender) => ({
  type: 'message',
  channel_type: 'im',
  user: userId,
  text: 'list',
  ts: '9.4',
  channel: 'D0DIRECT01',
  event_ts: '9.4',
  team: userTeamId,
});

/** Events as Slack sends them; their messages are years old. */
export const EVENT_SAMPLES = {
  app_mention: (sender: Sender) => eventSample(mentionEvent(sender), sender),
  'message.im': (sender: Sender) => eventSample(directMessageEvent(sender), sender),
  app_home_opened: (sender: Sender) =>
    eventSample(
      { type: 'app_home_opened', user: sender.userId, channel: 'D0DIRECT01', tab: 'home', event_ts: '9.5' },
      sender,
    ),
  app_uninstalled: (sender: Sender) => eventSample({ type: 'app_uninstalled', event_ts: '9.6' }, sender),
  tokens_revoked: (sender: Sender) =>
    eventSample({ type: 'tokens_revoked', tokens: { bot: ['U0BOT00001'] }, event_ts: '9.7' }, sender),
} as const;
