import { valuesOf } from './entered.ts';
import { enteredBy, type StoredMessage } from './messages.ts';
import type { Json } from './page-api.ts';
import { describeView, type Place, type StoredView } from './views.ts';
import { APP, type Channel, OTHER_BOT, payloadName, TEAM, type Team, type User } from './workspace.ts';
import type { World } from './world.ts';

/** The fields of a slash command (Slack's "Implementing slash commands" page). */
export function commandFields(world: World, user: User, channel: Channel, text: string) {
  return {
    token: world.app.verificationToken,
    team_id: world.team.id,
    team_domain: world.team.domain,
    ...enterpriseFields(world),
    channel_id: channel.id,
    channel_name: payloadName(channel),
    user_id: user.id,
    user_name: user.name,
    command: world.app.command,
    text,
    api_app_id: APP.id,
    is_enterprise_install: String(world.grid?.isOrgInstall ?? false),
    response_url: replyUrl(world, user, channel.id),
    trigger_id: world.triggers.create(user.id),
  };
}

function enterpriseFields({ grid }: World): Record<string, string> {
  return grid ? { enterprise_id: grid.id, enterprise_name: grid.name } : {};
}

function replyUrl(world: World, user: User, channelId: string, original?: StoredMessage): string {
  return `${world.origin()}${world.replyUrls.create(user.id, channelId, original)}`;
}

/**
 * What all interaction payloads begin with. In those of a view the team is the submitter's own, and the view says where
 * the app is installed; in those of a message it is the workspace that the message is in. An app that is installed for a
 * whole organization gets no team.
 */
function interaction(world: World, user: User, type: string, where: 'view' | 'message'): Json {
  const { grid, team } = world;
  const isHome = where === 'message' || user.teamId === team.id;
  return {
    type,
    user: { id: user.id, username: user.name, name: user.name, team_id: user.teamId },
    api_app_id: APP.id,
    token: world.app.verificationToken,
    team: grid?.isOrgInstall
      ? null
      : {
          id: isHome ? team.id : user.teamId,
          domain: isHome ? team.domain : user.teamId.toLowerCase(),
          ...enterpriseFields(world),
        },
    enterprise: grid ? { id: grid.id, name: grid.name } : null,
    is_enterprise_install: grid?.isOrgInstall ?? false,
  };
}

export function describeMessage(message: StoredMessage, team: Team = TEAM): Json {
  const isApps = message.user === APP.botUserId;
  const isOtherApps = message.user === OTHER_BOT.id;
  return {
    type: 'message',
    user: message.user,
    ts: message.ts,
    text: message.text,
    team: team.id,
    ...(isApps ? { bot_id: APP.botId, app_id: APP.id } : {}),
    ...(isOtherApps ? { subtype: 'bot_message', bot_id: 'B0DEPLOYER', app_id: 'A0DEPLOYER' } : {}),
    ...(message.blocks.length > 0 ? { blocks: message.blocks } : {}),
    ...(message.attachments.length > 0 ? { attachments: message.attachments } : {}),
    ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
    ...(message.edited ? { edited: { user: APP.botId, ts: message.ts } } : {}),
  };
}

/** A view in a payload: it names the submitter's team, and where the app is installed. */
function viewOf(world: World, view: StoredView, user: User): Json {
  const { grid, team } = world;
  const described = describeView(view, user.teamId, team.id);
  return grid?.isOrgInstall ? { ...described, app_installed_team_id: grid.id } : described;
}

/** Where an element is, as payloads tell it. The content of an ephemeral message is not sent along. */
function placeFields(world: World, user: User, place: Place): Json {
  if ('hash' in place) {
    const view = viewOf(world, place, user);
    return { container: { type: 'view', view_id: place.id }, view };
  }
  return {
    container: {
      type: 'message',
      message_ts: place.ts,
      channel_id: place.channel,
      is_ephemeral: place.to !== undefined,
      ...(place.threadTs === undefined ? {} : { thread_ts: place.threadTs }),
    },
    channel: channelField(world, place.channel),
    ...(place.to === undefined ? { message: describeMessage(place, world.team) } : {}),
    state: { values: valuesOf(place.blocks, enteredBy(place, user.id)) },
  };
}

function channelField({ channels }: World, channelId: string): Json {
  const channel = channels.find(({ id }) => id === channelId);
  return { id: channelId, name: channel ? payloadName(channel) : '' };
}

/** block_actions: only those on messages get a response_url. */
export function actionPayload(world: World, user: User, place: Place, action: Json): Json {
  return {
    ...interaction(world, user, 'block_actions', 'hash' in place ? 'view' : 'message'),
    ...placeFields(world, user, place),
    trigger_id: world.triggers.create(user.id),
    ...('hash' in place ? {} : { response_url: replyUrl(world, user, place.channel, place) }),
    actions: [{ ...action, action_ts: world.ids.ts() }],
  };
}

/** block_suggestion: what was typed so far into an external select. */
export function suggestionPayload(
  world: World,
  user: User,
  place: Place,
  typed: { readonly block_id: string; readonly action_id: string; readonly value: string },
): Json {
  return {
    ...interaction(world, user, 'block_suggestion', 'hash' in place ? 'view' : 'message'),
    ...placeFields(world, user, place),
    ...typed,
  };
}

export function submissionPayload(world: World, user: User, view: StoredView): Json {
  return {
    ...interaction(world, user, 'view_submission', 'view'),
    trigger_id: world.triggers.create(user.id),
    view: viewOf(world, view, user),
    response_urls: [],
  };
}

export function shortcutPayload(world: World, user: User, callbackId: string, message?: StoredMessage): Json {
  const common = {
    callback_id: callbackId,
    trigger_id: world.triggers.create(user.id),
    action_ts: world.ids.ts(),
  };
  if (!message) return { ...interaction(world, user, 'shortcut', 'view'), ...common };
  // Only its own messages can be replaced by the app.
  const original = message.user === APP.botUserId ? message : undefined;
  return {
    ...interaction(world, user, 'message_action', 'message'),
    ...common,
    message_ts: message.ts,
    message: describeMessage(message, world.team),
    channel: channelField(world, message.channel),
    response_url: replyUrl(world, user, message.channel, original),
  };
}

export interface EventSource {
  readonly user?: User | undefined;
  readonly channel?: Channel | undefined;
}

/** The envelope of the Events API around one event; in a shared channel, `team_id` is the team of the user who acted. */
export function eventEnvelope(world: World, event: Json, from: EventSource = {}): Json {
  const eventTs = world.ids.ts();
  return {
    token: world.app.verificationToken,
    team_id: from.user?.isExternal ? from.user.teamId : world.team.id,
    context_team_id: world.team.id,
    context_enterprise_id: world.grid?.id ?? null,
    ...(world.grid ? { enterprise_id: world.grid.id } : {}),
    api_app_id: APP.id,
    event: { ...event, event_ts: eventTs },
    type: 'event_callback',
    event_id: world.ids.id('Ev'),
    event_time: Math.floor(world.clock.now() / 1000),
    authorizations: [
      {
        enterprise_id: world.grid?.id ?? null,
        team_id: world.grid?.isOrgInstall ? null : world.team.id,
        user_id: APP.botUserId,
        is_bot: true,
        is_enterprise_install: world.grid?.isOrgInstall ?? false,
      },
    ],
    is_ext_shared_channel: from.channel?.kind === 'shared',
  };
}
