import { z } from 'zod';
import { readHome } from '../../app/home/read-home.ts';
import { changePower } from '../../app/servers/change-power.ts';
import { showServer } from '../../app/servers/show-server.ts';
import { watchServer } from '../../app/servers/watch-server.ts';
import { Refusal } from '../../domain/errors.ts';
import type { ServerId } from '../../domain/ids.ts';
import type { PowerAction } from '../../domain/server.ts';
import { textMessage } from '../kit/blocks.ts';
import type { Command } from '../kit/command.ts';
import { defineForm } from '../kit/form.ts';
import type { HomeScreen } from '../kit/home-view.ts';
import { answerWords, isThere, unconfirmedMessage } from '../servers/power-words.ts';
import { MANAGE_TITLE, mentionedView } from '../servers/shortcut-views.ts';
import { findSuggestions } from '../servers/shortcuts.ts';
import type { SlackRequest } from '../transport/request.ts';
import { homeFindChoice, homeManageButton, homePages, homePower, homeRefreshButton } from './buttons.ts';
import { homeBlocks } from './home-blocks.ts';

/** The app's Home tab. */
export const homeScreen: HomeScreen = {
  load: async ({ isWelcome, ...wanted }, request) => {
    const home = await request.execute(readHome, wanted);
    const { servers } = home;
    const { currency, accountUrl } = request;
    return {
      blocks: homeBlocks(home, { now: request.now(), currency, accountUrl, isWelcome }),
      page: servers.kind === 'listed' ? servers.page : 0,
      coming: 'coming' in servers ? servers.coming : undefined,
    };
  },
};

/** A server's card in a modal. Its buttons show their outcome there. */
const card = defineForm({
  id: 'home_manage',
  title: MANAGE_TITLE,
  input: z.object({ id: z.number().int() }),
  needs: showServer,
  load: async ({ id }, request, origin) => {
    const shown = await request.execute(showServer, { ref: { id } });
    return mentionedView(shown, undefined, origin, request.now());
  },
});

/** The buttons and menus that exist only on Home. The others belong to their features. */
export const home: Pick<Command, 'actions' | 'modals' | 'suggestions'> = {
  actions: [
    card.handler,
    homeManageButton.on((input, request) => card.open(input, request)),
    homeFindChoice.on((id, request) => card.open({ id: Number(id) }, request)),
    homePages.back.on(({ page }, request) => show({ page }, request)),
    homePages.further.on(({ page }, request) => show({ page }, request)),
    homeRefreshButton.on((_value, request) => show({ isFresh: true }, request)),
    homePower.start.on(({ id }, request) => power('start', id, request)),
    homePower.stop.on(({ id }, request) => power('stop', id, request)),
    homePower.reboot.on(({ id }, request) => power('reboot', id, request)),
  ],
  modals: [],
  suggestions: [{ ...findSuggestions, id: homeFindChoice.id }],
};

async function show(
  shown: { readonly page?: number; readonly isFresh?: boolean },
  request: SlackRequest,
): Promise<void> {
  await request.authorize(readHome);
  // These buttons exist only on Home.
  if (!request.home) throw new Refusal('unreadable_press', {});
  await request.home.show(shown);
}

/** Home shows the outcome if it is seen within two minutes; otherwise the user gets a message. */
async function power(action: PowerAction, id: ServerId, request: SlackRequest): Promise<void> {
  const change = await request.execute(changePower[action], {
    ref: { id },
    onWait: undefined,
    isSure: undefined,
  });
  if (change.isUnconfirmed) {
    await request.reply.send(unconfirmedMessage(action, change));
    return;
  }
  await request.reply.send(textMessage(answerWords(action, change)));
  const { actId } = change;
  if (actId === undefined) return;
  const isSeen = isThere(action, change) || (await request.execute(watchServer, { id, action })).isThere;
  const isShown = isSeen && (await request.home?.show({}));
  await request.placeAct(actId, isShown ? 'told' : undefined);
}
