// Verifies requests with the library of Standard Webhooks: [{secret, headers, body}]. Prints for each what the library returns, or why it refuses.
import { Webhook } from 'standardwebhooks';

for (const { secret, headers, body } of JSON.parse(process.argv[2])) {
  try {
    console.log(JSON.stringify({ event: new Webhook(secret).verify(body, headers) }));
  } catch (error) {
    console.log(JSON.stringify({ error: error.message }));
  }
}
