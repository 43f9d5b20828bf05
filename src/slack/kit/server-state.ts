import type { Server } from '../../domain/server.ts';
import { colorOf, type StateColor } from '../../domain/server-state.ts';
import { escapeText, shorten } from './text.ts';

const DOTS: Readonly<Record<StateColor, string>> = { green: '🟢', yellow: '🟡', red: '🔴', gray: '⚪' };

/** A state as plain text: a dot, for a glance, and the hosting API's own word. */
export function plainState(server: Pick<Server, 'state'>): string {
  return `${DOTS[colorOf(server)]} ${shorten(server.state.trim() || 'unknown', 20)}`;
}

/** The same in mrkdwn. */
export function stateWords(server: Pick<Server, 'state'>): string {
  return escapeText(plainState(server));
}
