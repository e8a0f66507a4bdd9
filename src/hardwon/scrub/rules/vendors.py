"""Names of services that give out keys without a form of their own; none is a word of everyday code."""

from __future__ import annotations

_CLOUD = """
    alibaba aliyun appwrite backblaze bitrise bluemix bunnycdn cloudant cloudflare cloudinary cloudmersive cloudsight
    cloudsmith cloudways codacy codeclimate codecov codemagic codeship contabo coveralls crowdin datadog deepsource
    digitalocean dnsimple exoscale fastly filebase firebase fleetbase fly_api godaddy hcloud heroku hetzner hockeyapp
    hockeysdk huaweicloud ibmcloud imagekit imgix jenkins-crumb jenkins_ jfrog kamatera kinsta koyeb launchdarkly
    leaseweb linode logentries loggly logzio mezmo namecheap netlify newrelic northflank nuodb opsgenie outscale
    ovhcloud packagecloud pagerduty papertrail percy_token pinata pingdom planetscale platformsh porkbun proxycrawl
    qovery rackspace readthedocs rollbar runscope saucelabs scaleway scalingo scraperapi scrapestack scrapfly
    scrapingant scrapingbee screenshotlayer securitytrails semaphoreci sendbird shodan sirv_ snyk_ softlayer
    sonarcloud sonarqube splunk stackpath statuscake statuspage stormglass sumologic tencentcloud upcloud uploadcare
    uptimerobot urlscan vercel virustotal volcengine vultr web3storage webflow wistia zenscrape zenserp zerotier
"""
_DATA = """
    abuseipdb accuweather adzuna airvisual algolia alienvault alphavantage ambeedata amplitude aviationstack
    baremetrics bitcoinaverage calendarific calorieninja captaindata carboninterface censys chartmogul clarifai
    clearbit coinapi coinlayer coinlib coinmarketcap companyhub conversiontools convertapi cryptocompare currencycloud
    currencyfreaks currencylayer currentsapi customerio databox dbeaver deepai deepgram detectlanguage diffbot edamam
    edenai etherscan ethplorer exchangerate fastforex finage financialmodelingprep finnhub fixerio flightapi
    flightlabs flightstats foursquare fullstory geckoboard geoapify geocodify geocodio geoipify glassnode graphhopper
    gtmetrix guardianapi hereapi holidayapi honeycomb html2pdf hypertrack iexapis iexcloud imagga infura_ intrinio
    ip2location ipapi_ ipgeolocation ipinfo_ ipinfodb ipqualityscore ipstack keenio languagelayer lexigram linkpreview
    locationiq lokalise macaddress mailboxlayer mapbox mapquest marketstack maxmind meaningcloud mediastack mixpanel
    moralis nasdaqdatalink neutrinoapi newsapi newscatcher numverify nutritionix opencage openuv openweather
    optimizely pandascore paralleldots parsehub pdflayer pdfshift peopledatalabs pixabay positionstack posthog
    purestake quickmetrics rapidapi rawg_api rebrandly restpack rev_ai rockset serpapi serphouse serpstack shotstack
    shutterstock skybiometry smartystreets spoonacular sportmonks stockdata swiftype tatumio technicalanalysis
    text2data theoddsapi ticketmaster tiingo timezoneapi tomorrowio tomtom tradier travelpayouts twelvedata unsplash
    upcdatabase userstack vatlayer veriphone visualcrossing voicegain vpnapi walkscore weatherapi weatherbit
    weatherstack webscraper whoxy worldcoinindex worldweather zerobounce zipcodeapi
"""
_MONEY = """
    adyen amadeus apideck bitfinex bitmart bitmex bitpanda bitstamp bittrex blockcypher braintree cexio chargebee
    chargify coinbase cryptocom dwolla easypost etoro_ finicity flutterwave freshbooks gocardless gumroad instamojo
    kraken_ kucoin lemonsqueezy mercadopago mollie_ moonclerk oanda_ paddle_ paymongo paypal paystack plaid_ poloniex
    quaderno razorpay recurly shippo_ shopify signalwire squarespace stripe_ taxjar transferwise wepay youneedabudget
    zipbooks zuora
"""
_WORK = """
    activecampaign adafruit adobe_ aeroworkflow airbrake airship_ airtable apacta apiflash apifonica appcues appfollow
    apptivo asana_ atlassian audd_ auth0 autodesk autoklose autopilot_ avaza_ axonaut aylien ayrshare bannerbear
    beamer_ beebole besttime billomat bitbar bitbucket bitly blazemeter blitapp bloggerapi boostnote brandfetch
    browserstack browshot buddyns bugherd bugsnag buildkite buttercms campayn canny_ chatfuel checkly chorus_
    clickhelp clicksend clickup clockify clockwork_ closecrm cloudelements cloverly clustdoc codequiry collect2
    commercejs confluence contentful contentstack convertkit convier craftmypdf customerguru d7network dailyco
    dandelion dareboost delighted deputy_ detectify digitalriver dotdigital dovico dronahq droneci dropbox dyspatch
    eagleeye easyinsight ecostruxure eightxeight elasticemail enablex eventbrite everhour faceplusplus feedier fibery
    fileio flatio flickr flowflu formbucket formcraft formio formsite freeagent freshdesk freshsales freshworks
    fulcrum_ fxmarket gengo_ getgist getresponse getsandbox gitea_ gitter_ gocanvas goodday groovehq gyazo happyscribe
    harvest_ hellosign helpcrunch helpscout hiveage hubspot humanity_ iconfinder insightly instabot instagram
    integromat intercom invoiceocean jotform jumpcloud jupiterone karmacrm kickbox klaviyo klipfolio knapsackpro
    kontent kylas_ lastfm leadfeeder lemlist lendflow lessannoyingcrm linearapp linenotify linkedin liveagent
    livestorm loginradius loyverse madkudu mailchimp mailerlight mailerlite mailersend mailgun mailjet mailmodo
    mailsac mandrill mattermost mavenlink meistertask meraki messagebird metabase_ metrilo mindmeister mixmax_
    monday_api moosend mrticktock myfreshworks myintervals nethunt nexmo_ nicereply noticeable nozbe_ nylas_ okta_
    omnisend onedesk onelogin onepagecrm onesignal onfleet oopspam overloop pandadoc paperform parseur partnerstack
    pastebin paydirt paymoapp pepipost photoroom phraseapp pipedream pipedrive pivotaltracker planviewleankit planyo
    plivo_ podio_ pollsapi postageapp postbacks postmark powrbot prodpad prospectcrm protocolsio pushbullet pusher_
    pushover_ qualaroo quickbase reachmail readme_io refiner_ rentman repairshopr revampcrm ringcentral ritekit
    roninapp route4me runrunit salesblink salescookie salesflare salesforce salesmate satismeter segment_ selectpdf
    sendgrid sendinblue sentry_ sherpadesk shortcut_ signable signaturit signupgenius sigopt simplesat simplynoted
    siteleaf skrappio slack_ smartsheet smooch_ snipcart sparkpost speechtextai spotify_ statuspal stitchdata
    storecove stormboard storyblok storychief stripo_ stytch sugester supernotes surveyanyplace surveybot surveymonkey
    surveysparrow survicate tallyfy teamgate teamwork_ telegram telnyx textmagic thinkific thousandeyes timecamp
    tmetric todoist toggl_ trello_ tru_id twilio twitch_ twitter_ tyntec typeform unifyid unplugg uplead upwave_
    userflow verimail versioneye viewneo vimeo_ vonage vouchery vyte_ websitepulse whatsapp_ worksnaps workstack
    wrike_ yelp_ yousign youtube_ zendesk zenkit zeplin_ zohocrm zonka zoom_ zulipchat
"""
_MODELS = """
    ai21 anthropic assemblyai baseten cohere_ deepinfra deepseek elevenlabs fireworksai groq_ heygen huggingface
    leonardoai mistral_ moonshot nomic_ octoai openai_ openrouter perplexity_ photoroom replicate_ runwayml scaleapi
    stability_ synthesia togetherai unstructured voyageai wandb_ weaviate zhipuai
"""

VENDOR_NAMES = tuple(dict.fromkeys(" ".join((_CLOUD, _DATA, _MONEY, _WORK, _MODELS)).split()))
