import type { PlainTextOption } from '@slack/types';
import type { Server } from '../../domain/server.ts';
import { option } from './blocks.ts';
import { plainState } from './server-state.ts';
import { plainLabel } from './text.ts';

/** A server as one line of a menu: enough to tell two of the same label apart. */
export function serverOption(server: Server): PlainTextOption {
  // A held password's server has no state.
  const state = server.state === '' ? undefined : plainState(server);
  const rest = [state, server.ipv4, `ID ${server.id}`].filter(Boolean).join(' · ');
  return option(plainLabel(server.label), String(server.id), rest);
}
