import { z } from 'zod';
import type { ChannelId, WorkspaceId } from '../core/ids.ts';
import type { Actor } from '../core/roles.ts';
import type { RequestPlace } from '../installations/installations.ts';
import type { Card } from '../requests/request.ts';
import type { Thread } from '../servers/mentioned.ts';
import { namedId } from './http-receiver.ts';
import { readBlockStamp } from './kit/blocks.ts';
import type { Origin } from './kit/form.ts';
import { findOrigin, submittedView } from './kit/modal.ts';

const eventId = z.string().min(1).max(64).nullish().catch(undefined);

/** The shape of an event’s fields that say what it is, and for which workspace Slack delivers it. */
export const eventPlace = {
  type: z.literal('event_callback'),
  team_id: eventId,
  /** The workspace that the event is delivered for. In a shared channel, `team_id` may be that of the user who acted. */
  context_team_id: eventId,
  enterprise_id: eventId,
  context_enterprise_id: eventId,
  authorizations: z
    .array(z.object({ team_id: eventId, user_id: eventId, is_enterprise_install: z.boolean().catch(false) }))
    .default([])
    .catch([]),
};

const eventEnvelope = z.object(eventPlace);

/** Returns the place of an event. Its workspace is '' if Slack doesn't name one. */
export function placeOfEvent(read: z.output<typeof eventEnvelope>): RequestPlace {
  const [authorization] = read.authorizations;
  const workspaceId = read.context_team_id ?? authorization?.team_id ?? read.team_id ?? '';
  const enterpriseId = read.context_enterprise_id ?? read.enterprise_id ?? undefined;
  const orgId = authorization?.is_enterprise_install ? enterpriseId : undefined;
  return { workspaceId, orgId };
}

/*
 * The shapes of Slack's payloads: the parts that are read. Everything else in them is ignored.
 */
const id = z.string().min(1).max(64);

/** The shape of a slash command. */
export const commandPayload = z.object({
  command: z.string().startsWith('/'),
  text: z.string().max(20_000).default(''),
  user_id: id,
  team_id: id,
  channel_id: id.optional(),
  response_url: z.string().optional(),
  trigger_id: z.string().optional(),
  enterprise_id: id.nullish().catch(undefined),
  /** `true` or `false` as text, since a command is sent as a form. */
  is_enterprise_install: z.string().nullish().catch(undefined),
});

const user = z.object({ id, team_id: id.optional() });
const place = {
  user,
  /**
   * Null for an app that was installed for a whole organization. In payloads of a view it is the team of the user who
   * submits it, which may be another one.
   */
  team: z.object({ id }).nullish(),
  channel: z.object({ id }).nullish(),
  /** Whether the app was installed for a whole organization (Enterprise Grid). */
  is_enterprise_install: z.boolean().default(false).catch(false),
  enterprise: z.object({ id }).nullish().catch(undefined),
};
/** The shape of the one field in a view that names the workspace where the app is installed. */
const installed = { app_installed_team_id: id.nullish().catch(undefined) };
const surroundingView = z
  .object({
    ...installed,
    id: z.string().default(''),
    type: z.string().default('modal').catch('modal'),
    callback_id: z.string().default('').catch(''),
    private_metadata: z.string().default(''),
    title: z.object({ text: z.string() }).optional().catch(undefined),
    blocks: z
      .array(z.looseObject({ type: z.string(), block_id: z.string().exactOptional() }))
      .default([])
      .catch([]),
  })
  .nullish();

/** The shape of a press of a button, or a choice in a menu. */
export const actionPayload = z.object({
  ...place,
  type: z.literal('block_actions'),
  response_url: z.string().optional(),
  trigger_id: z.string().optional(),
  view: surroundingView,
  /** The message or view with the button. */
  container: z
    .object({
      message_ts: z.string().optional(),
      view_id: z.string().optional(),
      thread_ts: z.string().optional().catch(undefined),
    })
    .nullish()
    .catch(undefined),
  actions: z
    .array(
      z.object({
        action_id: z.string(),
        block_id: z.string().optional().catch(undefined),
        action_ts: z.string().optional().catch(undefined),
        value: z.string().nullish(),
        selected_option: z.object({ value: z.string() }).nullish(),
      }),
    )
    .min(1),
});

/** The shape of a submission of a modal. */
export const submissionPayload = z.object({
  ...place,
  trigger_id: z.string().optional(),
  view: submittedView.extend(installed),
});

/** The shape of the fields of a message that say where it is. */
const pointer = z.looseObject({ ts: z.string().max(64), thread_ts: z.string().max(64).optional() });

/** The shape of a shortcut, used from anywhere or on a message. */
export const shortcutPayload = z.object({
  ...place,
  callback_id: z.string().max(255).default('').catch(''),
  message: pointer.nullish().catch(undefined),
  response_url: z.string().optional(),
  trigger_id: z.string().optional(),
});

/** The shape of a request for the choices of a menu. */
export const suggestionPayload = z.object({
  ...place,
  action_id: z.string(),
  block_id: z.string().optional().catch(undefined),
  value: z.string().default(''),
  view: surroundingView,
});

/** The shape of a step's input, which is null, absent or empty if it was left out. */
const input = z.string().max(20_000).default('').catch('');

/** The shape of the event that the app's step in a workflow is executed. */
export const stepPayload = z.object({
  ...eventPlace,
  /** In seconds. */
  event_time: z.number().int().min(0).optional().catch(undefined),
  event: z.object({
    type: z.literal('function_executed'),
    function: z.object({ callback_id: z.string() }).transform((step) => ({ id: step.callback_id })),
    function_execution_id: z.string().min(1).max(200),
    inputs: z.object({ action: input, server: input, key: input, channel: input }),
    bot_access_token: input,
  }),
});

type PlaceField = 'user' | 'team' | 'channel' | 'is_enterprise_install' | 'enterprise';
type Place = Pick<z.output<typeof suggestionPayload>, PlaceField> & {
  readonly view?:
    | { readonly app_installed_team_id?: string | null | undefined; readonly private_metadata?: string }
    | null
    | undefined;
  readonly actions?: readonly { readonly block_id?: string | undefined }[];
  readonly block_id?: string | undefined;
};

/** Returns the place where a command was typed. */
export function placeOfCommand(payload: z.output<typeof commandPayload>): RequestPlace {
  const { team_id: workspaceId, enterprise_id, is_enterprise_install } = payload;
  const orgId = is_enterprise_install === 'true' ? (enterprise_id ?? undefined) : undefined;
  return { workspaceId, orgId };
}

/** Returns the place of a press, a submission, a shortcut or a request for choices. */
export function placeOf({ is_enterprise_install, enterprise }: Place, { workspaceId }: Actor): RequestPlace {
  const orgId = is_enterprise_install ? enterprise?.id : undefined;
  return { workspaceId, orgId };
}

/** Returns the actor of a press, a submission, a shortcut or a request for choices. */
export function actorOf(payload: Place, channelId: ChannelId | undefined): Actor {
  const { user } = payload;
  return {
    workspaceId: workspaceOf(payload),
    userId: user.id,
    channelId,
    homeTeamId: user.team_id,
  };
}

/**
 * Returns the workspace of an act. For an app of a whole organization, Slack may not name it: then the app's own message or form
 * does (`stampBlocks` in kit/blocks.ts), since the user's home proves nothing. Without that it is the organization, which isn't
 * served as a workspace, so the act is refused.
 */
function workspaceOf(payload: Place): WorkspaceId {
  const { view, team, user, is_enterprise_install, enterprise } = payload;
  const stamped = is_enterprise_install ? readStamp(payload) : undefined;
  const named = stamped ?? view?.app_installed_team_id ?? team?.id;
  return named ?? (is_enterprise_install ? enterprise?.id : user.team_id) ?? '';
}

function readStamp({ view, actions = [], block_id }: Place): WorkspaceId | undefined {
  if (view) return findOrigin(view.private_metadata ?? '')?.workspaceId;
  return readBlockStamp(actions[0]?.block_id ?? block_id);
}

type Press = Pick<z.output<typeof actionPayload>, 'container' | 'actions' | 'trigger_id'>;

/** Returns the ID of a press, the same at every delivery; undefined if Slack names nothing that identifies it. */
export function pressId({ container, actions: [pressed], trigger_id }: Press, actor: Actor) {
  const place = container?.message_ts ?? container?.view_id;
  const { workspaceId, userId } = actor;
  return (
    namedId('press', workspaceId, userId, place, pressed?.action_ts) ?? triggerId('press', trigger_id, actor)
  );
}

/** Returns the ID of a command, a shortcut or a submission, each of which has a trigger of its own; undefined without one. */
export function triggerId(kind: string, trigger: string | undefined, { workspaceId, userId }: Actor) {
  return namedId(kind, workspaceId, userId, trigger);
}

/** Returns the thread of the message whose button was pressed; undefined if that message is no reply. */
export function threadOf({ container }: Press): Thread | undefined {
  const { message_ts: ts, thread_ts: root } = container ?? {};
  return root === undefined || root === ts ? undefined : { ts: root, isOpen: true };
}

/** Returns the message whose button was pressed; undefined in a modal. */
export function cardOf({ channel, container }: Press & Pick<Place, 'channel'>): Card | undefined {
  const ts = container?.message_ts;
  return channel && ts !== undefined ? { channelId: channel.id, ts } : undefined;
}

/** Returns the channel of an act. A form counts for the channel that it was opened in, so that roles for it count there. */
export function channelOf({ channel }: Pick<Place, 'channel'>, origin?: Origin): ChannelId | undefined {
  return channel?.id ?? origin?.channelId;
}

/*
 * The shapes of the Web API's answers, and what becomes of them.
 */
const text = z.string().catch('');

/** Reads nothing from an answer. */
export const nothing = z.unknown().transform(() => ({}));

/** What a bot token is for. */
export interface Introduction {
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly botUserId: string;
  /** The organization that the workspace belongs to (Enterprise Grid). */
  readonly enterpriseId?: string;
  /** Whether the token is for all workspaces of the organization. */
  readonly isOrgInstall?: boolean;
}

/** Reads the answer to `auth.test`. */
export const introduction = z
  .object({
    team_id: text,
    team: text,
    user_id: text,
    enterprise_id: z.string().optional().catch(undefined),
    is_enterprise_install: z.boolean().catch(false),
  })
  .transform(
    ({ team_id, team, user_id, enterprise_id, is_enterprise_install }): Introduction => ({
      workspaceId: team_id,
      workspaceName: team,
      botUserId: user_id,
      enterpriseId: enterprise_id,
      isOrgInstall: is_enterprise_install || undefined,
    }),
  );
/** Reads the answer to `views.open`. */
export const openedView = z
  .object({ view: z.object({ id: text }).catch({ id: '' }) })
  .transform(({ view }) => ({ viewId: view.id }));
/** Reads the channel and time of a posted message. */
export const card = z
  .object({ channel: text, ts: text })
  .transform(({ channel, ts }): Card => ({ channelId: channel, ts }));
/** Reads the answer to `users.info`. */
export const foundUser = z.object({ user: z.unknown() });
/** Keeps a page of `users.list` as it is. */
export const foundUsers = z.unknown().transform((page) => ({ page }));
/** Reads the answer to `usergroups.list`. */
export const foundGroups = z
  .object({ usergroups: z.unknown() })
  .transform(({ usergroups }) => ({ groups: usergroups }));
/** Reads the answer to `conversations.info`. */
export const foundChannel = z.object({ channel: z.unknown() });

/** One page of the members of a channel. */
export interface MemberPage {
  readonly members: readonly string[];
  /** The cursor of the next page; '' on the last page. */
  readonly cursor: string;
}

/** Reads a page of `conversations.members`. */
export const memberPage = z
  .object({ members: z.array(z.string()), response_metadata: z.object({ next_cursor: text }).optional() })
  .transform(
    ({ members, response_metadata: more }): MemberPage => ({
      members,
      cursor: more?.next_cursor ?? '',
    }),
  );
