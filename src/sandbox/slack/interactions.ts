import type { Delivery } from './deliver.ts';
import type { Json } from './page-api.ts';
import { SlackRefusal } from './refusal.ts';
import type { World } from './world.ts';

/**
 * Sends a press, a submission or another interaction to the app.
 * @throws SlackRefusal not_interactive: the app's manifest turns interactivity off
 */
export async function sendInteraction(world: World, what: string, payload: Json): Promise<Delivery> {
  if (!world.app.isInteractive)
    throw new SlackRefusal('not_interactive', 'This app is not configured to handle interactive responses');
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  return world.deliverer.send(what, 'form', body);
}
