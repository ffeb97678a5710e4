// Starts a server, prints where it is, and goes on until it is killed.
const {start} = require('monotable');
start({memory: true}).then(({endpoint}) => {
  console.log(endpoint);
  setInterval(() => {}, 1000);
});
