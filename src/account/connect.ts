import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AppContext } from '../context.ts';
import { defineUseCase } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { Foundation } from '../db/database.ts';
import { keep } from '../db/kept.ts';
import type { Deciders } from '../requests/notify.ts';
import { actions, confirmation, context, type Message, textMessage } from '../slack/kit/blocks.ts';
import { defineButton } from '../slack/kit/button.ts';
import { defineCommand, parseNothing } from '../slack/kit/command.ts';
import { count, mention } from '../slack/kit/text.ts';
import { type NotifierParts, notifySafely } from '../slack/outbox.ts';
import type { Confirmer } from '../slack/reply.ts';
import type { SlackRequest } from '../slack/request.ts';
import { disconnectKey, type KeyChange, notifyKeyChange, storeKey } from './keys.ts';

export const connectButton = defineButton('connect', z.object({}));
/** Offers an owner to connect an account, where none is connected. */
export const connectStep = () => connectButton.element('Connect…', {}, { style: 'primary' });
const disconnectButton = defineButton('disconnect', z.object({}));
/** Links to one of the app's pages. Slack still reports the press and expects an ack. */
const linkButton = defineButton('link', z.object({}));

const LINK_TTL_MS = 10 * MINUTE_MS;

/**
 * Makes a one-time link to the form that takes the API key, for this user in this workspace. It works for ten minutes. The hash of its
 * token, which opens nothing, names it in everything that is stored.
 */
const makeConnectLink = defineUseCase({
  name: 'connect_link',
  needs: 'owner',
  effect: 'changes',
  run: async (_input: Record<never, never>, { actor, app }) => {
    const { system, connectLinks } = app;
    const { workspaceId, userId, channelId } = actor;
    const token = system.newToken(32);
    const tokenHash = hashToken(token);
    const expiresAt = system.now() + LINK_TTL_MS;
    await connectLinks.put({ tokenHash, workspaceId, userId, channelId, expiresAt });
    return { token: new Secret(token), tokenHash };
  },
});

/** The hash of a token; the token itself is never stored. */
function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export type FoundLink = NonNullable<Awaited<ReturnType<typeof findConnectLink>>>;

/**
 * Finds the link of a token, without using it up; undefined if it was used, has expired, or never existed. The form acts as the
 * user who requested the link, in the channel where they did.
 */
export async function findConnectLink(
  token: string,
  { connectLinks, system, workspaces, apiKeys }: AppContext,
) {
  const link = await connectLinks.find(hashToken(token), system.now());
  if (!link) return undefined;
  const { workspaceId, userId, channelId, tokenHash } = link;
  const actor = { workspaceId, userId, channelId };
  return {
    tokenHash,
    caller: { actor, surface: 'page' as const },
    workspaceName: (await workspaces.find(workspaceId))?.name ?? '',
    isReplacing: (await apiKeys.listWorkspaces()).includes(workspaceId),
  };
}

/**
 * Connects the account with the entered key, after reading the list of servers with it. Success uses up the link, and the user
 * is notified where they requested it.
 * @throws Refusal `link_unusable`; HostingError as `connectKey` does
 */
export const connectByLink = defineUseCase({
  name: 'connect',
  needs: 'owner',
  effect: 'changes',
  run: async ({ tokenHash, key }: { tokenHash: string; key: Secret<string> }, context) => {
    const { connectLinks, system } = context.app;
    const link = await connectLinks.take(tokenHash, system.now());
    if (!link) throw new Refusal('link_unusable', {});
    const list = await storeKey(key, context).catch(async (error: unknown) => {
      // So that a user who pasted a wrong key can try again.
      await connectLinks.put(link);
      throw error;
    });
    // Not counted in a list that isn't certainly whole.
    return { tokenHash, servers: list.extent === 'whole' ? list.servers.length : undefined };
  },
  follow: async ({ tokenHash, servers }, context) => {
    const { actor, app } = context;
    await app.accountNotifier.notifyConnected({ confirmationId: tokenHash, ...actor }, servers);
    await notifyKeyChange('set', context);
  },
});

export const connect = defineCommand({
  name: 'connect',
  usage: 'connect',
  summary: 'Connect the hosting account',
  needs: 'owner',
  parse: ({ words }) =>
    // Users who typed a key into the chat have to know that Slack has it now.
    words.length > 0
      ? 'Never paste an API key into Slack. If you just did, revoke it and create a new one.'
      : {},
  run: (_input, request) => sendLink(request),
  actions: [
    connectButton.on((_value, request) => sendLink(request)),
    // Slack opens the address itself; the press only needs an ack.
    linkButton.on(async () => {}),
  ],
});

async function sendLink(request: SlackRequest): Promise<void> {
  const { publicUrl, caller } = request;
  await request.authorize(makeConnectLink);
  if (publicUrl === undefined) throw new Refusal('no_public_url', { workspaceId: caller.actor.workspaceId });
  const { token, tokenHash } = await request.execute(makeConnectLink, {});
  // What happens on the page is reported here afterwards.
  await request.views.storeOrigin(tokenHash);
  await request.reply.send(linkMessage(`${publicUrl}/connect/${token.reveal()}`));
}

export const disconnect = defineCommand({
  name: 'disconnect',
  usage: 'disconnect',
  summary: 'Disconnect the hosting account',
  needs: 'owner',
  parse: parseNothing,
  run: async (_input, request) => {
    await request.authorize(disconnectKey);
    await request.reply.send(disconnectMessage());
  },
  actions: [
    disconnectButton.on(async (_value, request) => {
      const wasThere = await request.execute(disconnectKey, {});
      await request.reply.replace(textMessage(disconnectedWords(wasThere)));
      if (wasThere) await request.announce('disconnected the hosting account');
    }),
  ],
});

/** Renders the link to the page that takes the API key. It is for one user and works once. */
export function linkMessage(url: string): Message {
  const open = { ...linkButton.element('Enter the API key', {}, { style: 'primary' }), url };
  return textMessage(
    'Enter your hosting API key on a secure page outside Slack.',
    actions(open),
    context('This link is just for you. It works once and expires in 10 minutes.'),
  );
}

export function installedMessage(): Message {
  return textMessage(
    'Thanks for installing vps! To get started, connect your hosting account: create an API key on the account’s page, then enter the key in a secure form outside Slack.',
    actions(connectStep()),
    context('The *Home* tab shows the next steps.'),
  );
}

export function connectedMessage(servers: number | undefined): Message {
  const next =
    servers === 0
      ? 'It has no servers yet. Create one with `/vps create`.'
      : 'See its servers with `/vps list`, or create one with `/vps create`.';
  const found = !servers ? '' : `: ${count(servers, 'server')}`;
  return textMessage(`Your hosting account is connected${found}. ${next}`);
}

export function connectedAnnouncement(userId: string): Message {
  return textMessage(`${mention(userId)} connected the hosting account`);
}

export function disconnectMessage(): Message {
  const confirm = confirmation({
    title: 'Disconnect the hosting account?',
    text: 'Nobody can manage servers from Slack until an owner connects an account again. Servers keep running.',
    confirm: 'Disconnect',
    isDangerous: true,
  });
  return textMessage(
    'Disconnecting removes the API key. Your servers keep running.',
    actions(disconnectButton.element('Disconnect', {}, { style: 'danger', confirm })),
  );
}

/** Says whether the account was disconnected. `wasThere`: there was a key to remove. */
export function disconnectedWords(wasThere: boolean): string {
  return wasThere
    ? 'The hosting account is disconnected and its API key is removed from this app. If nothing else uses the key, revoke it on your hosting account’s API keys page. To reconnect, run `/vps connect`.'
    : 'No hosting account was connected.';
}

/** Reports changes to the hosting account in Slack. Never throws: failures are logged. */
export function createAccountNotifier({ outbox, log }: NotifierParts) {
  return {
    /**
     * Notifies the requester of a link, where they requested it, since they may have closed the page; and the channel, where others
     * wait for the account. The reply path is stored under the hash of the link's token. `servers`: undefined if that isn't certain.
     */
    notifyConnected: (link: Confirmer, servers: number | undefined): Promise<void> =>
      notifySafely(link.confirmationId, log, undefined, async () => {
        await outbox.notifyConfirmer(link, connectedMessage(servers));
        await outbox.announce(link, connectedAnnouncement(link.userId));
      }),
    /** Notifies the owners, in the approvals channel or directly. */
    notifyKeyChange: (keyChange: KeyChange, { channelId, userIds }: Deciders): Promise<void> =>
      notifySafely(keyChange.workspaceId, log, undefined, async () => {
        const { workspaceId } = keyChange;
        const message = keyChangeMessage(keyChange);
        // Who removed the key has pressed a button. A link may have been used by someone else than its owner, who then reads it here.
        const others = userIds.filter((id) => keyChange.change === 'set' || id !== keyChange.actorId);
        const reached = await outbox.postCards(workspaceId, { channelId, userIds: others }, message);
        if (reached.length === 0 && others.length > 0)
          log.warn('no owner could be told that an API key was set or removed', { workspaceId });
      }),
  };
}

/** Says who set or removed the API key; never the key. */
export function keyChangeMessage({ actorId, change }: KeyChange): Message {
  const who = mention(actorId);
  if (change === 'removed')
    return textMessage(
      `${who} disconnected the hosting account.`,
      context(
        'Your servers keep running. To manage them from Slack again, an owner has to run `/vps connect`.',
      ),
    );
  return textMessage(
    `${who} connected a new hosting API key.`,
    context(
      'From now on, all orders go to the account of this key. If you didn’t expect this, run `/vps disconnect` and check `/vps audit`.',
    ),
  );
}

/** A one-time link. `expiresAt`: epoch milliseconds. */
interface ConnectLink {
  readonly tokenHash: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly channelId?: string | undefined;
  readonly expiresAt: number;
}

/** Stores the one-time links of `/vps connect`, with a hash of the token only. `now`: epoch milliseconds. */
export function createConnectLinks({ db }: Foundation) {
  const toLink = (row: { readonly value: string } | undefined): ConnectLink | undefined =>
    row && JSON.parse(row.value);
  return {
    put: (link: ConnectLink): Promise<void> =>
      keep(db, {
        kind: 'connect_link',
        id: link.tokenHash,
        workspace_id: link.workspaceId,
        value: JSON.stringify(link),
        uses_left: 0,
        until: link.expiresAt,
      }),
    find: async (tokenHash: string, now: number): Promise<ConnectLink | undefined> => {
      const link = db.selectFrom('kept').select('value').where('kind', '=', 'connect_link');
      return toLink(await link.where('id', '=', tokenHash).where('until', '>', now).executeTakeFirst());
    },
    /** Removes the link and returns it. If several requests take it at once, only one of them gets it. */
    take: async (tokenHash: string, now: number): Promise<ConnectLink | undefined> => {
      const link = db.deleteFrom('kept').where('kind', '=', 'connect_link').returning('value');
      return toLink(await link.where('id', '=', tokenHash).where('until', '>', now).executeTakeFirst());
    },
  };
}
